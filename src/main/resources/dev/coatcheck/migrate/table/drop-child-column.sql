-- Drops the column that refers to the legacy IDs from a child, with its foreign key, its index and the
-- triggers that kept it and the twin in step. The twin becomes NOT NULL if the column was and every
-- partition has the foreign key: the validated check spares the server a scan.
-- Locks: those of lock.sql, which is sent before.

drop trigger if exists <t_ref_late> on <child>;

drop trigger if exists <t_ref> on <child>;

do <body>
begin
  if (select a.attnotnull from pg_attribute a
       where a.attrelid = <child_oid>::oid and a.attnum = <child_attnum>::int2)
    and exists (select from pg_constraint k where k.conrelid = <child_oid>::oid
                   and k.conname = <'ref_filled_name'> and k.convalidated) then
    alter table <child> alter column <ref> set not null;
  end if;
end <body>;

alter table <child> drop constraint if exists <ref_filled>;

<identity>;

alter table <child> drop column <fk>;

drop function if exists <on_ref>(), <on_ref_late>(), <fill_ref>(regclass, tid[], bigint[], boolean);
