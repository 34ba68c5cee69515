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

  /** The tables whose columns get twins, partitioned ones themselves. */
  private static final String CHILDREN =
      """
      with child as (
        select distinct a.attrelid as oid, a.attnum
          from pg_constraint f join pg_class c on c.oid = f.conrelid
          join pg_attribute k on k.attrelid = f.conrelid and k.attnum = f.conkey[1]
          join pg_attribute a on a.attname = k.attname and a.attrelid =
            case when c.relispartition then pg_partition_root(c.oid) else c.oid end
         where f.contype = 'f' and f.confrelid = <oid> and f.confkey = array[<key>::int2]
           and f.conparentid = 0)
      """;

  /** What stands in the way of twins of the columns that refer to the table. */
  static final List<Check> OF_CHILDREN =
      List.of(
          ofChildren(
              "child_not_owned",
              """
              select c.oid::regclass || ' of ' || quote_ident(pg_get_userbyid(c.relowner))
                from pg_class c
               where c.oid in (select oid from child
                               union
                               select t.relid from child, pg_partition_tree(child.oid) t)
                 and not pg_has_role(c.relowner, 'usage') order by 1\
              """,
              "Tables with a foreign key to the table, or partitions of them, belong to other"
                  + " roles, and only the owner may alter a table: %s. Use a source's user that is"
                  + " a member of these roles, or change the owner."),
          ofChildren(
              "child_no_create_on_schema",
              """
              select distinct quote_ident(n.nspname)
                from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where c.oid in (select oid from child where oid <> <oid>
                               union
                               select t.relid from child, pg_partition_tree(child.oid) t
                                where child.oid <> <oid>)
                 and not has_schema_privilege(n.oid, 'create') order by 1\
              """,
              "The source's user may not create indexes in the schemas of tables with a foreign key"
                  + " to the table: %s. Grant it create on these schemas."),
          ofChildren(
              "child_column_taken",
              """
              select format('%s.%I', a.attrelid::regclass, t.attname)
                from child c join pg_attribute a on a.attrelid = c.oid and a.attnum = c.attnum
                join pg_attribute t on t.attrelid = c.oid and not t.attisdropped
                 and t.attname = a.attname || '_snowflake_id' order by 1\
              """,
              "Tables with a foreign key to the table already have columns that their twins need:"
                  + " %s. Undo the earlier run, or rename these columns."),
          ofChildren(
              "child_column_type",
              """
              select format('%s.%I of type %s', a.attrelid::regclass, a.attname,
                            format_type(a.atttypid, a.atttypmod))
                from child c join pg_attribute a on a.attrelid = c.oid and a.attnum = c.attnum
               where a.atttypid not in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
               order by 1\
              """,
              "Columns with a foreign key to the table are no smallint, integer or bigint, and the"
                  + " checks of a domain would run as the source's user: %s. Change their types"
                  + " first."),
          ofChildren(
              "child_column_generated",
              """
              select distinct format('%s.%I', a.attrelid::regclass, a.attname)
                from child c join pg_attribute r on r.attrelid = c.oid and r.attnum = c.attnum
                join pg_attribute a on a.attname = r.attname and a.attgenerated <> ''
                 and a.attrelid in (select c.oid union select t.relid from pg_partition_tree(c.oid) t)
               order by 1\
              """,
              "Columns with a foreign key to the table are generated, and a trigger that keeps a"
                  + " twin in step can't read them: %s. Make them ordinary columns that the"
                  + " application fills, with alter table … alter … drop expression."),
          ofChildren(
              "child_inheritance",
              """
              select i.inhrelid::regclass || ' from ' || i.inhparent::regclass
                from child c join pg_attribute a on a.attrelid = c.oid and a.attnum = c.attnum
                join pg_inherits i on i.inhparent = c.oid or i.inhrelid = c.oid and a.attinhcount > 0
                join pg_class h on h.oid = i.inhrelid and not h.relispartition
               where c.oid <> <oid> order by 1\
              """,
              "Tables with a foreign key to the table share its column by inheritance, so it can't"
                  + " be dropped from one of them alone: %s. End the inheritance with alter table …"
                  + " no inherit first."),
          // Postgres lets the columns of a partition key depend on their own table.
          ofChildren(
              "child_partition_key",
              """
              select distinct format('%s.%I', a.attrelid::regclass, a.attname)
                from child c join pg_attribute r on r.attrelid = c.oid and r.attnum = c.attnum
                join pg_attribute a on a.attname = r.attname
                 and a.attrelid in (select c.oid union select t.relid from pg_partition_tree(c.oid) t)
                join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = a.attrelid
                 and d.objsubid = a.attnum and d.refclassid = 'pg_class'::regclass
                 and d.refobjid = a.attrelid and d.refobjsubid = 0 and d.deptype = 'i'
               order by 1\
              """,
              "Tables are partitioned by their foreign key to the table, and the trigger that keeps"
                  + " a twin in step can't move a row to another partition: %s. Partition them by"
                  + " another column, or drop the foreign key first."),
          ofChildren(
              "child_foreign_key_not_valid",
              """
              select f.conrelid::regclass || ' (' || f.conname
                     || case when to_jsonb(f) ->> 'conenforced' = 'false' then ', not enforced'
                        else '' end || ')'
                from pg_constraint f
               where f.contype = 'f' and f.confrelid = <oid> and not f.convalidated order by 1\
              """,
              "Foreign keys to the table were never validated: %s. Validate them first; rows"
                  + " without a parent get no twin. Drop one that is not enforced, or run alter"
                  + " table … alter constraint … enforced."),
          ofChildren(
              "child_intermediate",
              """
              select distinct f.conrelid::regclass::text
                from pg_constraint f join pg_class c on c.oid = f.conrelid
               where f.contype = 'f' and f.confrelid = <oid> and f.conparentid = 0
                 and (c.relkind = 'p' and c.relispartition or c.relkind = 'f'
                   or exists (select from pg_partition_tree(f.conrelid) t
                                join pg_class l on l.oid = t.relid where l.relkind = 'f'))
               order by 1\
              """,
              "Foreign keys are on partitions that are partitioned themselves, or on tables with"
                  + " rows on other servers: %s. Put them on the partitioned table or on each of"
                  + " its last partitions."),
          ofChildren(
              "child_rewrite_rule",
              """
              select format('%I on %s', r.rulename, r.ev_class::regclass) from pg_rewrite r
                join pg_class c on c.oid = r.ev_class
               where c.relkind in ('r', 'p') and c.oid in (select oid from child where oid <> <oid>)
               order by 1\
              """,
              "Rules rewrite statements on tables with a foreign key to the table: %s. Replace them"
                  + " by triggers or drop them first."),
          ofChildren(
              "child_trigger_sorts_after",
              """
              select format('%I on %s', g.tgname, g.tgrelid::regclass) from pg_trigger g
               where g.tgrelid in (select oid from child) and not g.tgisinternal
                 and g.tgtype & 3 = 3 and g.tgname > '~coatcheck_'
                 and not starts_with(g.tgname::text, '~coatcheck_') order by 1\
              """,
              "Triggers on tables with a foreign key to the table would fire after the trigger of"
                  + " the run, which must be the last: %s. Rename them so that they sort before"
                  + " ~coatcheck_ref."),
          ofChildren(
              "child_subscription_target",
              """
              select r.srrelid::regclass::text from pg_subscription_rel r
               where r.srrelid in (select oid from child where oid <> <oid>) order by 1\
              """,
              "Subscriptions fill tables with a foreign key to the table, and their rows fire no"
                  + " triggers: %s. Migrate the tables at their publisher."),
          ofChildren(
              "child_published",
              """
              select distinct format('%s in %I', c.oid::regclass, p.pubname)
                from pg_publication_tables p
                join pg_namespace n on n.nspname = p.schemaname
                join pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
               where c.oid in (select oid from child where oid <> <oid>) order by 1\
              """,
              "Publications contain tables with a foreign key to the table: %s. Subscribers would"
                  + " stop at the first row with the new column. Remove these tables from the"
                  + " publications first; one of all tables, or of a schema, has to list its tables"
                  + " instead."),
          ofChildren(
              "child_forced_row_security",
              """
              select c.oid::regclass::text from pg_class c
               where c.oid in (select oid from child where oid <> <oid>)
                 and c.relrowsecurity and c.relforcerowsecurity
                 and not (select bool_and(r.rolsuper or r.rolbypassrls) from pg_roles r
                           where r.rolname = current_user or r.oid = c.relowner) order by 1\
              """,
              "The row level security of tables with a foreign key to the table is forced on their"
                  + " owners too, so the run would miss rows: %s. Give the source's user and the"
                  + " owners bypassrls, or end the force during the run."));

  private Refusals() {}

  private static Check ofChildren(String code, String query, String sentence) {
    return new Check(code, CHILDREN + query, sentence);
  }

  static List<Check> of(boolean keepPrimaryKey) {
    return Stream.of(
            MAKE, OCCUPIED, RIGHTS, IN_THE_WAY, keepPrimaryKey ? List.<Check>of() : List.of(BOUND))
        .flatMap(List::stream)
        .toList();
  }
}
