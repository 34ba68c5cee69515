package dev.coatcheck.migrate.plan;

import java.util.List;

/** The checks that refuse a table because of the columns that refer to it, which get twins. */
final class ChildRefusals {
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

  static final List<Check> ALL =
      List.of(
          check(
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
          check(
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
          check(
              "child_column_taken",
              """
              select format('%s.%I', a.attrelid::regclass, t.attname)
                from child c join pg_attribute a on a.attrelid = c.oid and a.attnum = c.attnum
                join pg_attribute t on t.attrelid = c.oid and not t.attisdropped
                 and t.attname = a.attname || '_snowflake_id' order by 1\
              """,
              "Tables with a foreign key to the table already have columns that their twins need:"
                  + " %s. Undo the earlier run, or rename these columns."),
          check(
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
          check(
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
          check(
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
          check(
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
          check(
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
          check(
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
          check(
              "child_rewrite_rule",
              """
              select format('%I on %s', r.rulename, r.ev_class::regclass) from pg_rewrite r
                join pg_class c on c.oid = r.ev_class
               where c.relkind in ('r', 'p') and c.oid in (select oid from child where oid <> <oid>)
               order by 1\
              """,
              "Rules rewrite statements on tables with a foreign key to the table: %s. Replace them"
                  + " by triggers or drop them first."),
          check(
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
          check(
              "child_subscription_target",
              """
              select r.srrelid::regclass::text from pg_subscription_rel r
               where r.srrelid in (select oid from child where oid <> <oid>) order by 1\
              """,
              "Subscriptions fill tables with a foreign key to the table, and their rows fire no"
                  + " triggers: %s. Migrate the tables at their publisher."),
          check(
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
          check(
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

  private ChildRefusals() {}

  private static Check check(String code, String query, String sentence) {
    return new Check(code, CHILDREN + query, sentence);
  }
}
