-- Tables of a team's memories. Every table of a project's data begins its key with tenant_id and
-- project_id, so that Citus can distribute them by project_id; tenant, person, project, member and
-- token are small and would be reference tables there.

create table ltm.tenant (
  id uuid primary key default gen_random_uuid(),
  name text not null unique check (name <> ''),
  created timestamptz not null default now());

create table ltm.person (
  tenant_id uuid not null references ltm.tenant,
  id uuid not null default gen_random_uuid(),
  issuer text not null,
  subject text not null,
  name text not null check (name <> ''),
  email text not null default '',
  disabled timestamptz,
  created timestamptz not null default now(),
  primary key (tenant_id, id),
  unique (tenant_id, name),
  unique (issuer, subject));

create table ltm.project (
  tenant_id uuid not null references ltm.tenant,
  id uuid not null default gen_random_uuid(),
  slug text not null check (slug ~ '^[a-z0-9][a-z0-9._-]{0,99}$'),
  remote text not null default '',
  hold text not null default 'tools' check (hold in ('tools', 'agent', 'all')),
  created timestamptz not null default now(),
  primary key (tenant_id, id),
  unique (tenant_id, slug));

create table ltm.member (
  tenant_id uuid not null,
  project_id uuid not null,
  person_id uuid not null,
  role text not null check (role in ('reader', 'writer', 'curator', 'owner')),
  primary key (tenant_id, project_id, person_id),
  foreign key (tenant_id, project_id) references ltm.project,
  foreign key (tenant_id, person_id) references ltm.person);
create index member_person on ltm.member (person_id);

-- A token is shown once; what is kept of it is the SHA-256 of a random text of 256 bits.
create table ltm.token (
  tenant_id uuid not null,
  id uuid not null default gen_random_uuid(),
  person_id uuid not null,
  hash bytea not null unique,
  label text not null default '',
  created timestamptz not null default now(),
  expires timestamptz not null,
  revoked timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, person_id) references ltm.person);

create table ltm.memory (
  tenant_id uuid not null,
  project_id uuid not null,
  id text not null,
  seq bigint not null,
  file text not null,
  etag text not null,
  author uuid not null,
  kind text not null,
  scope text not null,
  status text not null,
  trust text not null,
  phase smallint not null,
  spared boolean not null,
  state text not null,
  tags text[] not null,
  names text[] not null,
  created timestamptz not null,
  record jsonb not null,
  title_terms text not null,
  tag_terms text not null,
  text_terms text not null,
  words tsvector not null,
  primary key (tenant_id, project_id, id),
  foreign key (tenant_id, project_id) references ltm.project);
-- A search looks at the words of every memory of a project: they stay in the row, unpacked.
alter table ltm.memory alter column words set storage main;
create unique index memory_seq on ltm.memory (tenant_id, project_id, seq);
create index memory_newest on ltm.memory (tenant_id, project_id, status, created);

-- What a memory was before each change. 'kept' ones are its versions; the others are the bases that
-- changes from replicas are merged with, and go after thirty days.
create table ltm.former (
  tenant_id uuid not null,
  project_id uuid not null,
  id text not null,
  etag text not null,
  version integer not null,
  kept boolean not null,
  record jsonb not null,
  replaced timestamptz not null default now(),
  primary key (tenant_id, project_id, id, etag),
  foreign key (tenant_id, project_id) references ltm.project);
create index former_replaced on ltm.former (replaced) where not kept;

create table ltm.purged (
  tenant_id uuid not null,
  project_id uuid not null,
  id text not null,
  seq bigint not null,
  person_id uuid not null,
  at timestamptz not null default now(),
  primary key (tenant_id, project_id, id),
  foreign key (tenant_id, project_id) references ltm.project);
create unique index purged_seq on ltm.purged (tenant_id, project_id, seq);

-- Decisions that were applied, by the key their sender gave them, with the answer.
create table ltm.applied (
  tenant_id uuid not null,
  project_id uuid not null,
  person_id uuid not null,
  key text not null,
  answer jsonb not null,
  at timestamptz not null default now(),
  primary key (tenant_id, project_id, person_id, key),
  foreign key (tenant_id, project_id) references ltm.project);
create index applied_at on ltm.applied (at);

create table ltm.usage (
  tenant_id uuid not null,
  project_id uuid not null,
  id text not null,
  uses integer not null,
  uses_then integer not null,
  last_used timestamptz,
  marked timestamptz not null,
  idle_from date not null,
  first_day date not null,
  primary key (tenant_id, project_id, id),
  foreign key (tenant_id, project_id) references ltm.project);

-- A day on which a person used a project's memories counts as a session of the project.
create table ltm.activity (
  tenant_id uuid not null,
  project_id uuid not null,
  person_id uuid not null,
  day date not null,
  at timestamptz not null,
  primary key (tenant_id, project_id, person_id, day),
  foreign key (tenant_id, project_id) references ltm.project);

create table ltm.batch (
  tenant_id uuid not null,
  project_id uuid not null,
  vault text not null,
  sessions bigint not null,
  primary key (tenant_id, project_id, vault),
  foreign key (tenant_id, project_id) references ltm.project);

-- Who did what. Lines about the whole tenant have a project_id of zeros.
create table ltm.audit (
  tenant_id uuid not null,
  project_id uuid not null,
  number uuid not null default gen_random_uuid(),
  at timestamptz not null default clock_timestamp(),
  person_id uuid,
  client text not null default '',
  what text not null,
  id text not null default '',
  detail jsonb not null default '{}',
  primary key (tenant_id, project_id, number));
create index audit_at on ltm.audit (tenant_id, project_id, at);
