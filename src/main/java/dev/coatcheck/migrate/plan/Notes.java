package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.ArrayList;
import java.util.List;

/** Facts about a table that need no action. */
final class Notes {
  private static final String KEY_SEQUENCE =
      """
      select s.oid::regclass::text
        from pg_attribute a
        join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = a.attrelid
         and d.refobjsubid = a.attnum and d.classid = 'pg_class'::regclass
         and d.deptype in ('a', 'i')
        join pg_class s on s.oid = d.objid and s.relkind = 'S'
       where a.attrelid = <oid> and a.attnum = <key>\
      """;

  static final List<Check> CHECKS =
      List.of(
          new Check(
              "key_identity",
              KEY_SEQUENCE + " and a.attidentity <> ''",
              "The key is an identity column: dropping an identity column later drops its sequence,"
                  + " here %s."),
          new Check(
              "key_serial",
              KEY_SEQUENCE + " and a.attidentity = ''",
              "The key takes its values from its own sequence: dropping the column later drops"
                  + " %s."),
          new Check(
              "key_default",
              """
              select pg_get_expr(f.adbin, f.adrelid) from pg_attrdef f
               where f.adrelid = <oid> and f.adnum = <key>
                 and not exists (<sequence>)\
              """
                  .replace("<sequence>", KEY_SEQUENCE),
              "The key takes its values from its own default: %s."),
          new Check(
              "key_without_default",
              """
              select 'none' from pg_attribute a
               where a.attrelid = <oid> and a.attnum = <key>
                 and a.attidentity = '' and not a.atthasdef\
              """,
              "The key has no default (%s): applications supply its values."),
          new Check(
              "key_includes",
              """
              select quote_ident(a.attname)
                from pg_index i
               cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, n)
                join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
               where i.indrelid = <oid> and i.indisprimary and k.n > i.indnkeyatts
                 and exists (select from pg_constraint f
                              where f.contype = 'f' and f.conrelid = <oid>
                                and f.confrelid = <oid> and a.attnum = any (f.conkey))
               order by k.n\
              """,
              "The index of the primary key includes %s, which refer to the table itself. The index"
                  + " of the new primary key does not, nor does that of the old one after an undo"
                  + " of the switch."),
          new Check(
              "key_tablespace",
              """
              select quote_ident(t.spcname)
                from pg_index i
                join pg_class c on c.oid = i.indexrelid
                join pg_tablespace t on t.oid = c.reltablespace
               where i.indrelid = <oid> and i.indisprimary
                 and not has_tablespace_privilege(t.oid, 'create')\
              """,
              "The index of the primary key is in the tablespace %s, in which the source's user may"
                  + " create nothing. The index of the new primary key won't be there, nor that of"
                  + " the old one after an undo of the switch. Grant it create on the tablespace."),
          new Check(
              "key_in_views",
              """
              select distinct r.ev_class::regclass::text
                from pg_depend d join pg_rewrite r on r.oid = d.objid
               where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
                 and d.refobjid = <oid> and d.refobjsubid = <key> and r.ev_class <> <oid>
               order by 1\
              """,
              "Views read the old key: %s. Change these views before the old key is dropped."),
          new Check(
              "composite_foreign_keys",
              """
              select f.conrelid::regclass || ' (' || f.conname || ')'
                from pg_constraint f
               where f.confrelid = <oid> and f.contype = 'f' and f.conparentid = 0
                 and <key>::int2 = any(f.confkey) and cardinality(f.confkey) > 1 order by 1\
              """,
              "Foreign keys of several columns contain the key: %s. They stay on the old key."),
          new Check(
              "foreign_keys_on_partitions",
              """
              select format('%s has it in %s, but not in %s', p.inhparent::regclass,
                            string_agg(p.inhrelid::regclass::text, ', ' order by p.inhrelid::regclass::text)
                              filter (where k.conrelid is not null),
                            coalesce(string_agg(p.inhrelid::regclass::text, ', ' order by p.inhrelid::regclass::text)
                              filter (where k.conrelid is null), 'none'))
                from pg_inherits p
                left join (select distinct conrelid from pg_constraint
                            where confrelid = <oid> and contype = 'f'
                              and <key>::int2 = any(confkey)) k on k.conrelid = p.inhrelid
               where exists (select from pg_inherits s
                               join pg_constraint f on f.conrelid = s.inhrelid
                               join pg_class c on c.oid = s.inhrelid and c.relispartition
                              where s.inhparent = p.inhparent and f.confrelid = <oid>
                                and f.contype = 'f' and f.conparentid = 0
                                and <key>::int2 = any(f.confkey))
               group by p.inhparent order by 1\
              """,
              "Partitions have foreign keys to the table: %s. Their column gets its twin in their"
                  + " partitioned table. Add the foreign key to the partitions that lack it, or"
                  + " expect rows without a parent there."),
          new Check(
              "not_valid_checks",
              """
              select format('%I of %s %s', k.conname, k.conrelid::regclass,
                            pg_get_constraintdef(k.oid))
                from pg_constraint k
               where k.contype in ('c', 'n') and not k.convalidated
                 and to_jsonb(k) ->> 'conenforced' is distinct from 'false'
                 and (k.conrelid = <oid> or k.conrelid in (
                   select f.conrelid from pg_constraint f
                    where f.contype = 'f' and f.confrelid = <oid>
                      and f.confkey = array[<key>::int2]))
               order by 1\
              """,
              "Checks were never validated: %s. The run updates every row, and a row that breaks"
                  + " such a check is refused: it is set aside with its error, and in a table with"
                  + " a foreign key it stops the run. Correct those rows and validate the check"
                  + " before the start, or drop the check."),
          new Check(
              "replica_triggers",
              """
              select quote_ident(tgname) from pg_trigger
               where tgrelid = <oid> and not tgisinternal and tgenabled in ('R', 'A') order by 1\
              """,
              "Triggers of the table fire for writers that call themselves replicas: %s. So do the"
                  + " triggers of the run."),
          new Check(
              "replica_identity",
              """
              select case c.relreplident when 'f' then 'full' when 'n' then 'nothing'
                     else (select 'index ' || quote_ident(x.relname)
                             from pg_index i join pg_class x on x.oid = i.indexrelid
                            where i.indrelid = c.oid and i.indisreplident) end
                from pg_class c where c.oid = <oid> and c.relreplident <> 'd'\
              """,
              "The replica identity of the table is %s; it does not follow the primary key."),
          new Check(
              "event_triggers",
              "select quote_ident(evtname) from pg_event_trigger"
                  + " where evtenabled <> 'D' order by 1",
              "Event triggers fire for every change of the table: %s."),
          new Check(
              "foreign_keys",
              """
              select f.conrelid::regclass || ' (' || f.conname || ')'
                from pg_constraint f
                join pg_class c on c.oid = f.conrelid
                join pg_namespace n on n.oid = c.relnamespace
               where f.confrelid = <oid> and f.contype = 'f' and f.conparentid = 0
                 and f.confkey = array[<key>::int2]
               order by n.nspname, c.relname, f.conname\
              """,
              "Foreign keys refer to the key, and each of their columns gets a twin that refers to"
                  + " the new keys: %s."));

  private Notes() {}

  static List<Diagnostic> size(TableSize size) {
    List<Diagnostic> notes = new ArrayList<>();
    if (size.isEstimated()) {
      notes.add(
          new Diagnostic(
              "rows_estimated", "The table is large, so its rows were estimated and not counted."));
    }
    if (size.olderThanEpoch() > 0) {
      notes.add(
          new Diagnostic(
              "older_than_epoch",
              "%s rows are older than the epoch of the keys. Their new keys keep their order but not their times."
                  .formatted(size.olderThanEpoch())));
    }
    return notes;
  }
}
