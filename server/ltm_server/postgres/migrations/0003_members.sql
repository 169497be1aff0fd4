-- Every member of a project sees who the others are, and may so ask a curator or an owner.

drop policy select_by_curator on ltm.member;
create policy select_by_reader on ltm.member for select to ltm_app
  using (tenant_id = (select ltm.my_tenant())
         and project_id = any (array(select ltm.my_projects('reader'))));
