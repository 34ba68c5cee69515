-- The new index is built, then takes over the name of the rule, so that two versions of the gateway
-- can run on this at once. Reads go on while it is built; whoever writes names waits or is told to
-- come again. The namespace comes last, because the version before looks names up without one.
-- (Not concurrently: that would wait for Flyway's own lock for ever.)
create unique index alias_name_in_namespace
  on coatcheck.alias (bucket, type_id, scheme, value, namespace);

alter table coatcheck.alias
  drop constraint alias_name_is_unique,
  add constraint alias_name_is_unique primary key using index alias_name_in_namespace;
