-- What memories mean, as vectors. It is not numbered: it is made wherever pgvector is in the database,
-- sooner or later, and all in it can be made again from the memories. A vector is that of a state of
-- its memory (`seq`); what is purged takes its vectors with it.

create table ltm.vector (
  tenant_id uuid not null,
  project_id uuid not null,
  id text not null,
  model text not null,
  seq bigint not null,
  direction halfvec not null,
  primary key (tenant_id, project_id, id, model),
  foreign key (tenant_id, project_id, id) references ltm.memory on delete cascade);
create index vector_seq on ltm.vector (tenant_id, project_id, model, seq);

alter table ltm.vector enable row level security;
alter table ltm.vector force row level security;
do $$ begin
  execute format('create policy operator on ltm.vector to %I using (true) with check (true)',
                 current_user);
end $$;
create policy by_reader on ltm.vector to ltm_app
  using (tenant_id = (select ltm.my_tenant())
         and project_id = any (array(select ltm.my_projects('reader'))));
grant select, insert, update, delete on ltm.vector to ltm_app;
