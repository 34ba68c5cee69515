-- Step "prepare", first half: the objects of a run that are not on the table, in the schema
-- coatcheck_migration.
-- Locks: an advisory lock until the commit, so that two runs that start together create the schema one
-- after the other. None on the customer's table.

select pg_catalog.pg_advisory_xact_lock(<lock_class>, 0);

-- Not "if not exists", which asks for the right to create schemas even where the schema is there.
do <body> begin
  if pg_catalog.to_regnamespace('<schema>') is null then
    create schema <schema>;
  end if;
end <body>;

-- One row for each table that something of ours is on.
create table if not exists <schema>.checkpoint (
  run         uuid   not null,
  table_oid   bigint not null,
  fence       bigint not null default 0,  -- counts runners
  status      text   not null default 'running',
  high_id     bigint not null,            -- H, the highest legacy ID before the triggers
  t0_ms       bigint not null,            -- since the epoch of the layout
  last_position bigint not null,          -- all further keys of the backfill come after it
  last_id     bigint not null default 0,
  rows_done   bigint not null default 0,
  times_lost  bigint not null default 0,
  before_epoch bigint not null default 0,
  archived_id bigint not null default 0,
  constraint checkpoint_pkey primary key (run),
  constraint checkpoint_one_run_per_table unique (table_oid));

-- The name after which our objects are named, whatever the table's name is in a later run.
create table if not exists <schema>.known_table (
  first_schema text     not null,
  first_name   text     not null,
  relation     regclass not null,  -- dumped by its name
  constraint known_table_pkey primary key (first_schema, first_name));

insert into <schema>.known_table (first_schema, first_name, relation)
values (<'first_schema'>, <'first_name'>, <oid>)
on conflict (first_schema, first_name) do update set relation = excluded.relation;

-- Rows that could not be filled, with their reserved keys.
create table if not exists <schema>.set_aside (
  run    uuid   not null,
  legacy bigint not null,
  key    bigint not null,
  cause  text   not null,
  error  text   not null,
  tries  bigint not null default 1,
  constraint set_aside_pkey primary key (run, legacy));

-- Foreign keys that are dropped for a moment, and those that partitioned tables lack until their
-- partitions have them.
create table if not exists <schema>.unbound_foreign_key (
  n          bigint   not null,  -- they are added in this order, as their triggers fire in it
  run        uuid     not null,
  relation   regclass not null,
  name       name     not null,
  definition text     not null,
  remark     text,
  constraint unbound_foreign_key_pkey primary key (run, relation, name));

-- Outlives the run: a legacy ID never gets a second key.
create table if not exists <archive> (
  legacy bigint primary key, key bigint not null);

-- The keys of new rows on their way to the gateway. There are two tables, so that each can be
-- truncated while the triggers write to the other.
create table <outbox_a> (
  n bigint generated always as identity primary key,
  legacy bigint, key bigint not null);

create table <outbox_b> (
  n bigint generated always as identity primary key,
  legacy bigint, key bigint not null);

-- Even: the triggers write to the first outbox; odd: to the second. Read without a snapshot.
create sequence <switch> as bigint minvalue 0 start 0 cache 1 no cycle;

-- The first nextval returns the start value, so the sequence would not move.
select nextval(<'switch'>);

-- The numbers of new keys: see number-source.sql.
create sequence <mint_seq> as bigint minvalue 0 start 0 cache 1 no cycle;
