-- Row-level security, enabled and forced on every table. The application runs as ltm_app, which owns
-- nothing and cannot change the schema; who asks is said by two settings local to the transaction.
-- The login that migrates owns the tables and, as the operator, sees all: for backups.

create function ltm.me() returns uuid language sql stable as
  $$ select nullif(current_setting('ltm.person', true), '')::uuid $$;
-- It runs as the owner, as the two functions below it, because what it asks is guarded by it.
create function ltm.my_tenant() returns uuid
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select p.tenant_id from ltm.person p
   where p.tenant_id = nullif(current_setting('ltm.tenant', true), '')::uuid
     and p.id = ltm.me() and p.disabled is null $$;
create function ltm.rank(role text) returns integer language sql immutable as
  $$ select array_position(array['reader', 'writer', 'curator', 'owner'], role) $$;

-- The projects in which the asking person has at least a role.
create function ltm.my_projects(needed text) returns setof uuid
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select m.project_id from ltm.member m
   where m.tenant_id = ltm.my_tenant() and m.person_id = ltm.me()
     and ltm.rank(m.role) >= ltm.rank(needed) $$;

-- Who a token or a subject of an identity provider is, asked before there is a person.
create function ltm.person_by_token(token_hash bytea)
  returns table (tenant_id uuid, id uuid, name text)
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select p.tenant_id, p.id, p.name from ltm.token t
    join ltm.person p on p.tenant_id = t.tenant_id and p.id = t.person_id
   where t.hash = token_hash and t.revoked is null and t.expires > now() and p.disabled is null $$;
create function ltm.person_by_subject(of_issuer text, of_subject text)
  returns table (tenant_id uuid, id uuid, name text)
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select p.tenant_id, p.id, p.name from ltm.person p
   where p.issuer = of_issuer and p.subject = of_subject and p.disabled is null $$;

-- A new project belongs to who made it; only owners of a project of the tenant may make another.
create function ltm.new_project(new_slug text, new_remote text) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare made uuid;
  begin
    if not exists (select ltm.my_projects('owner')) then
      raise insufficient_privilege using message = 'only an owner makes projects';
    end if;
    insert into ltm.project (tenant_id, slug, remote)
      values (ltm.my_tenant(), new_slug, new_remote) returning id into made;
    insert into ltm.member (tenant_id, project_id, person_id, role)
      values (ltm.my_tenant(), made, ltm.me(), 'owner');
    return made;
  end $$;

-- What the project holds back comes into force by a curator, and by no other way.
create function ltm.guard_quarantine() returns trigger language plpgsql as $$
  begin
    if current_user <> 'ltm_app' or new.status <> 'active' then
      return new;
    end if;
    if tg_op = 'UPDATE' then
      if old.status = 'quarantined' and new.project_id not in (select ltm.my_projects('curator')) then
        raise insufficient_privilege using message = 'only a curator approves';
      end if;
    elsif (select case p.hold when 'tools' then new.trust = 'tool'
                              when 'agent' then new.trust in ('tool', 'assistant')
                              else new.trust in ('tool', 'assistant', 'user') end
             from ltm.project p
            where p.tenant_id = new.tenant_id and p.id = new.project_id) then
      raise insufficient_privilege using message = 'it waits for a curator';
    end if;
    return new;
  end $$;
create trigger guard_quarantine before insert or update on ltm.memory
  for each row execute function ltm.guard_quarantine();

do $$
declare
  each text;
  mine constant text :=
    'tenant_id = (select ltm.my_tenant()) and project_id = any (array(select ltm.my_projects(%L)))';
  rule record;
begin
  for each in select tablename from pg_tables where schemaname = 'ltm' loop
    execute format('alter table ltm.%I enable row level security', each);
    execute format('alter table ltm.%I force row level security', each);
    execute format('create policy operator on ltm.%I to %I using (true) with check (true)',
                   each, current_user);
  end loop;
  -- Table, command, least role, and what must hold besides.
  for rule in select * from (values
    ('memory', 'select', 'reader', 'true'), ('memory', 'insert', 'writer', 'true'),
    ('memory', 'update', 'writer', 'true'), ('memory', 'delete', 'curator', 'true'),
    ('former', 'select', 'reader', 'true'), ('former', 'insert', 'writer', 'true'),
    ('former', 'update', 'writer', 'true'), ('former', 'delete', 'curator', 'true'),
    ('purged', 'select', 'reader', 'true'),
    ('purged', 'insert', 'curator', 'person_id = (select ltm.me())'),
    ('applied', 'select', 'reader', 'person_id = (select ltm.me())'),
    ('applied', 'insert', 'reader', 'person_id = (select ltm.me())'),
    ('applied', 'update', 'reader', 'person_id = (select ltm.me())'),
    ('usage', 'select', 'reader', 'true'), ('usage', 'insert', 'reader', 'true'),
    ('usage', 'update', 'reader', 'true'), ('usage', 'delete', 'curator', 'true'),
    ('activity', 'select', 'reader', 'true'),
    ('activity', 'insert', 'reader', 'person_id = (select ltm.me())'),
    ('batch', 'select', 'reader', 'true'), ('batch', 'insert', 'writer', 'true'),
    ('batch', 'update', 'writer', 'true'),
    ('audit', 'select', 'curator', 'true'),
    ('audit', 'insert', 'reader', 'person_id = (select ltm.me())'),
    ('member', 'select', 'curator', 'true'), ('member', 'insert', 'owner', 'true'),
    ('member', 'update', 'owner', 'true'), ('member', 'delete', 'owner', 'true')
  ) as rules (of_table, command, needed, besides) loop
    execute format(
      'create policy %I on ltm.%I for %s to ltm_app %s (' || format(mine, rule.needed) || ' and %s)',
      rule.command || '_by_' || rule.needed, rule.of_table, rule.command,
      case rule.command when 'insert' then 'with check' else 'using' end, rule.besides);
    execute format('grant %s on ltm.%I to ltm_app', rule.command, rule.of_table);
  end loop;
end $$;

create policy of_tenant on ltm.audit for insert to ltm_app
  with check (tenant_id = (select ltm.my_tenant()) and person_id = (select ltm.me())
              and project_id = '00000000-0000-0000-0000-000000000000');
create policy my_own on ltm.member for select to ltm_app
  using (tenant_id = (select ltm.my_tenant()) and person_id = (select ltm.me()));
create policy my_tenant on ltm.tenant for select to ltm_app using (id = (select ltm.my_tenant()));
create policy colleagues on ltm.person for select to ltm_app
  using (tenant_id = (select ltm.my_tenant()));
create policy my_projects on ltm.project for select to ltm_app
  using (tenant_id = (select ltm.my_tenant())
         and id = any (array(select ltm.my_projects('reader'))));
create policy by_owner on ltm.project for update to ltm_app
  using (tenant_id = (select ltm.my_tenant())
         and id = any (array(select ltm.my_projects('owner'))));
create policy my_tokens on ltm.token for select to ltm_app
  using (tenant_id = (select ltm.my_tenant()) and person_id = (select ltm.me()));
create policy make_mine on ltm.token for insert to ltm_app
  with check (tenant_id = (select ltm.my_tenant()) and person_id = (select ltm.me()));
create policy revoke_mine on ltm.token for update to ltm_app
  using (tenant_id = (select ltm.my_tenant()) and person_id = (select ltm.me()));
create policy anyone on ltm.schema_version for select to ltm_app using (true);

grant usage on schema ltm to ltm_app;
grant select on ltm.tenant, ltm.person, ltm.project, ltm.token, ltm.schema_version to ltm_app;
grant update (remote, hold) on ltm.project to ltm_app;
grant insert on ltm.token to ltm_app;
grant update (revoked) on ltm.token to ltm_app;
revoke execute on all functions in schema ltm from public;
grant execute on all functions in schema ltm to ltm_app;
