package dev.coatcheck.migrate.plan;

import java.util.List;
import java.util.stream.Stream;

/** The checks that refuse a table, by what the catalog and the server show. */
final class Refusals {
  private static final String OF_TABLE = " from pg_class c where c.oid = <oid>";

  /** What the table is. */
  private static final List<Check> MAKE =
      List.of(
          new Check(
              "partition",
              """
              select i.inhparent::regclass::text
                from pg_inherits i join pg_class c on c.oid = i.inhrelid
               where i.inhrelid = <oid> and c.relispartition\
              """,
              "The table is a partition of %s. Partitioned tables can't be migrated yet."),
          new Check(
              "inheritance",
              """
              select 'child of ' || i.inhparent::regclass
                from pg_inherits i join pg_class c on c.oid = i.inhrelid
               where i.inhrelid = <oid> and not c.relispartition
              union all
              select 'parent of ' || inhrelid::regclass from pg_inherits where inhparent = <oid>\
              """,
              "The table takes part in inheritance: %s. End the inheritance with alter table … no"
                  + " inherit first."),
          new Check(
              "typed_table",
              "select format_type(c.reloftype, null)" + OF_TABLE + " and c.reloftype <> 0",
              "The table has the type %s and can't get a column. Run alter table … not of first."),
          new Check(
              "temporary_table",
              "select 'temporary'" + OF_TABLE + " and c.relpersistence = 't'",
              "The table is %s: it ends with its session."),
          new Check(
              "unlogged_table",
              "select 'unlogged'" + OF_TABLE + " and c.relpersistence = 'u'",
              "The table is %s: a crash would empty it but not its mappings. Run alter table … set"
                  + " logged first."),
          new Check(
              "extension_table",
              """
              select e.extname::text from pg_depend d join pg_extension e on e.oid = d.refobjid
               where d.classid = 'pg_class'::regclass and d.objid = <oid> and d.objsubid = 0
                 and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e'\
              """,
              "The table belongs to the extension %s: a dump would omit the new column."),
          new Check(
              "too_many_columns",
              "select c.relnatts::text" + OF_TABLE + " and c.relnatts >= 1600",
              "The table has %s columns, with the dropped columns, and can't get another column."
                  + " Copy it into a new table first."),
          new Check(
              "key_deferrable",
              "select quote_ident(conname) from pg_constraint"
                  + " where conrelid = <oid> and contype = 'p' and condeferrable",
              "The primary key is deferrable, so a transaction may hold a number twice for a"
                  + " moment, which the run would take for two rows: %s. Replace it by one that is"
                  + " not deferrable first."),
          new Check(
              "rewrite_rule",
              "select rulename::text from pg_rewrite where ev_class = <oid> order by 1",
              "Rules rewrite statements on the table: %s. Replace them by triggers or drop them"
                  + " first."));

  /** What is on it already. */
  private static final List<Check> OCCUPIED =
      List.of(
          new Check(
              "column_taken",
              """
              select attname::text from pg_attribute
               where attrelid = <oid> and attname = 'snowflake_id' and not attisdropped\
              """,
              "The table already has a column %s, which the new keys need. Undo the earlier run, or"
                  + " rename the column."),
          new Check(
              "triggers_left",
              """
              select tgname::text from pg_trigger
               where tgrelid = <oid> and starts_with(tgname::text, '~coatcheck_')
                 and not starts_with(tgname::text, '~coatcheck_ref_') order by 1\
              """,
              "The table has triggers of an earlier run: %s. Undo that run first. Where this"
                  + " database is a restored copy, whose run belongs to the original, run drop"
                  + " schema coatcheck_migration cascade in the copy and drop the column"
                  + " snowflake_id of the table instead."),
          new Check(
              "trigger_sorts_after",
              """
              select tgname::text from pg_trigger
               where tgrelid = <oid> and not tgisinternal and tgtype & 7 = 7
                 and tgname > '~coatcheck_insert'
                 and not starts_with(tgname::text, '~coatcheck_') order by 1\
              """,
              "Triggers before insert would fire after the trigger of the run, which must be the"
                  + " last: %s. Rename them so that they sort before ~coatcheck_insert."),
          new Check(
              "subscription_target",
              """
              select coalesce(s.subname::text, 'number ' || r.srsubid)
                from pg_subscription_rel r left join pg_subscription s on s.oid = r.srsubid
               where r.srrelid = <oid> order by 1\
              """,
              "The subscription %s fills the table, and its rows fire no triggers. Migrate the"
                  + " table at its publisher."),
          new Check(
              "published_table",
              """
              select p.pubname::text
                from pg_publication_tables p
                join pg_namespace n on n.nspname = p.schemaname
                join pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
               where c.oid = <oid> order by 1\
              """,
              "The publication %s contains the table: subscribers would stop at the first row with"
                  + " the new column. Remove the table from the publication first; one of all"
                  + " tables, or of a schema, has to list its tables instead."));

  /** What our role may not do. */
  private static final List<Check> RIGHTS =
      List.of(
          new Check(
              "not_owner",
              "select quote_ident(pg_get_userbyid(c.relowner))"
                  + OF_TABLE
                  + " and not pg_has_role(c.relowner, 'usage')",
              "The table belongs to %s, and only its owner may alter it. Use a source's user that"
                  + " is this role or a member of it."),
          new Check(
              "no_select",
              "select quote_ident(current_user) from pg_class c where c.oid = <oid>"
                  + " and not (has_table_privilege(c.oid, 'select')"
                  + " and has_schema_privilege(c.relnamespace, 'usage'))",
              "The source's user, %s, may not read the table. Grant it select on the table and"
                  + " usage on its schema."),
          new Check(
              "no_create_on_schema",
              "select quote_ident(n.nspname) from pg_class c"
                  + " join pg_namespace n on n.oid = c.relnamespace where c.oid = <oid>"
                  + " and not has_schema_privilege(n.oid, 'create')",
              "The source's user may not create indexes in the schema of the table. Run grant"
                  + " create on schema %s to that user."),
          new Check(
              "no_create_on_database",
              """
              select quote_ident(current_database())
               where not coalesce(
                       (select pg_has_role(nspowner, 'usage') from pg_namespace
                         where nspname = 'coatcheck_migration'),
                       has_database_privilege(current_database(), 'create'))\
              """,
              "The source's user may not create the schema coatcheck_migration in the database %s,"
                  + " or does not own it. Grant it create on the database, or run alter schema"
                  + " coatcheck_migration owner to that user."),
          new Check(
              "forced_row_security",
              "select 'forced'"
                  + OF_TABLE
                  + " and c.relrowsecurity and c.relforcerowsecurity and not (select"
                  + " bool_and(r.rolsuper or r.rolbypassrls) from pg_roles r"
                  + " where r.rolname = current_user or r.oid = c.relowner)",
              "The row level security of the table is %s on its owner too, so the run would miss"
                  + " rows. Give the source's user and the owner bypassrls, or end the force during"
                  + " the run."));

  /** What would wait for other sessions, or make all sessions wait. */
  private static final List<Check> IN_THE_WAY =
      List.of(
          new Check(
              "wraparound_vacuum",
              """
              select 'process ' || l.pid
                from pg_locks l join pg_class c on c.oid = l.relation
               where l.relation = <oid> and l.granted and l.pid <> pg_backend_pid()
                 and l.mode = 'ShareUpdateExclusiveLock'
                 and l.database = (select oid from pg_database where datname = current_database())
                 and (age(c.relfrozenxid)
                        > least(<freeze_age>, current_setting('autovacuum_freeze_max_age')::int,
                                (select option_value::int from pg_options_to_table(c.reloptions)
                                  where option_name = 'autovacuum_freeze_max_age'))
                   or mxid_age(c.relminmxid)
                        > current_setting('autovacuum_multixact_freeze_max_age')::int)\
              """,
              "A vacuum against wraparound works on the table and blocks the run: %s. Plan again"
                  + " when it has ended."),
          new Check(
              "old_transaction",
              """
              select format('process %s (%s, %s, %s s)', a.pid, a.usename, a.state,
                            extract(epoch from clock_timestamp() - a.xact_start)::bigint)
                from pg_stat_activity a
               where a.datname = current_database() and a.pid <> pg_backend_pid()
                 and a.backend_type = 'client backend'
                 and a.xact_start < clock_timestamp() - interval '1 second' * <old_seconds>
               order by a.xact_start\
              """,
              "Long transactions are open, and an index waits for their end: %s. End them first."),
          new Check(
              "prepared_transaction",
              """
              select quote_literal(gid) from pg_prepared_xacts
               where database = current_database() order by prepared\
              """,
              "Prepared transactions are open, and an index waits for their end: %s. Commit or roll"
                  + " them back first."));

  /** What keeps the primary key from moving. */
  private static final Check BOUND =
      new Check(
          "view_groups_by_key",
          """
          select distinct coalesce(r.ev_class::regclass::text,
                                   pg_describe_object(d.classid, d.objid, d.objsubid))
            from pg_constraint p
            join pg_depend d on d.refclassid = 'pg_constraint'::regclass and d.refobjid = p.oid
            left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
           where p.conrelid = <oid> and p.contype = 'p' and d.deptype = 'n'\
          """,
          "These depend on the primary key itself, because they group by it and select other"
              + " columns: %s. Group by those columns too, or keep the primary key where it is.");

  private Refusals() {}

  static List<Check> of(boolean keepPrimaryKey) {
    return Stream.of(
            MAKE, OCCUPIED, RIGHTS, IN_THE_WAY, keepPrimaryKey ? List.<Check>of() : List.of(BOUND))
        .flatMap(List::stream)
        .toList();
  }
}
