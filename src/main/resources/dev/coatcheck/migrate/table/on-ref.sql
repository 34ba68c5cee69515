-- Makes each of two columns of a child follow the other: the one that refers to the legacy IDs, and its
-- twin that refers to the new keys. If a statement changes both, the leading column counts: the old
-- column before the switch, the twin afterwards. In a new row, a column that is null or has its default
-- was not given. What this trigger can't see yet stays null until on-ref-late.sql.
-- Locks: none. Runs as our user and sees only Postgres's own names. If a table or a column was renamed,
-- its name is looked up; if one was dropped, nothing is left to follow.

create or replace function <on_ref>() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as <body>
-- Of the run <run>, whose undo looks for this.
#variable_conflict use_variable
declare
  legacy bigint;
  reference bigint;
  legacy_before bigint;
  reference_before bigint;
  by_reference boolean;
  fk name;
  parent_id name;
begin
  <only_on_child>
  begin
    legacy := new.<fk>;
    if tg_op = 'UPDATE' then
      legacy_before := old.<fk>;
    end if;
  exception when undefined_column then
    fk := <fk_column>;
    if fk is null then
      return new;
    end if;
    execute format('select ($1).%I', fk) into legacy using new;
    if tg_op = 'UPDATE' then
      execute format('select ($1).%I', fk) into legacy_before using old;
    end if;
  end;
  reference := new.<ref>;
  if tg_op = 'INSERT' then
    by_reference := reference is not null and not <reference_is_default>
      and (legacy is null or <reference_leads> or <legacy_is_default>);
  else
    reference_before := old.<ref>;
    if reference is distinct from reference_before then
      by_reference := legacy is not distinct from legacy_before or <reference_leads>;
    elsif legacy is distinct from legacy_before then
      by_reference := false;
    elsif (legacy is null) = (reference is null) then
      return new;
    else
      by_reference := legacy is null;
    end if;
  end if;

  begin
    if by_reference then
      legacy := coalesce(<own_id>,
                         (select t.<id>::bigint from <table> t where t.<key> = reference));
    else
      reference := coalesce(<own_key>,
                            (select t.<key> from <table> t where t.<id> = legacy));
    end if;
  exception when undefined_column or undefined_table then
    parent_id := <id_column>;
    if parent_id is null
      or not exists (select from pg_attribute a where a.attrelid = <oid>::oid
                        and a.attname = <'key'> and not a.attisdropped) then
      -- The table is gone, or one of its two columns: there is nothing left to follow.
      return new;
    end if;
    if by_reference then
      execute format('select t.%I::bigint from %s t where t.<key> = $1', parent_id,
                     <oid>::oid::regclass)
        into legacy using reference;
    else
      execute format('select t.<key> from %s t where t.%I = $1', <oid>::oid::regclass, parent_id)
        into reference using legacy;
    end if;
  end;

  if by_reference then
    begin
      new.<fk> := legacy;
    exception when undefined_column then
      new := jsonb_populate_record(new, jsonb_build_object(fk, legacy));
    end;
  else
    new.<ref> := reference;
  end if;
  return new;
end <body>;
