-- Whether the tables of grants and changes are those in which they were written. A dump that is
-- restored on the same server makes new tables there, with other OIDs, but changes neither the
-- system identifier nor the timeline. What was granted after the dump would be granted again, and
-- numbers of the change feed would be given again to other changes.
alter table coatcheck.key_fence add column table_oid bigint;

comment on column coatcheck.key_fence.table_oid is
  'OID of this table when the fence was opened. A restored dump makes another table: then nothing '
  'is granted until "coatcheck keys fence".';
comment on column coatcheck.change_head.origin is
  'Where the last number was given: system identifier, timeline and OID of this table. Null: not '
  'known, so the next change skips no numbers.';
comment on column coatcheck.change.number is
  'In the order of commits. Without gaps, except that the first change on another server, or in '
  'tables that were restored from a dump, skips a million numbers or more.';

update coatcheck.key_fence set table_oid = tableoid::bigint;
update coatcheck.change_head set origin = origin || '/' || tableoid::text;
