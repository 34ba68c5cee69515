package dev.coatcheck.migrate.table;

import static dev.coatcheck.migrate.table.Steps.file;

import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The steps that drop the legacy IDs from the table, and their columns from the children. */
final class ContractSteps {
  private static final SqlTemplate DEPENDENTS = file("dependents.sql");
  private static final SqlTemplate GATE = file("contract-gate.sql");
  private static final SqlTemplate TRIGGERS_SEEN = file("contract-triggers.sql");
  private static final SqlTemplate UNCHANGED = file("contract-unchanged.sql");
  private static final SqlTemplate LOCK = Steps.lock("access exclusive", SwitchSteps.TABLES, true);

  private static final SqlTemplate DROP_KEY = file("drop-key-column.sql");
  private static final SqlTemplate DROP_REFERENCE = file("drop-child-column.sql");

  private static final String TABLE_TRIGGERS =
      Stream.concat(TargetSql.TRIGGERS.stream(), Stream.of("archived"))
          .map(event -> "<'t_" + event + "'>")
          .collect(Collectors.joining(", "));

  private static final SqlTemplate TRIGGERS =
      FunctionTable.guarded(file("contracted-triggers.sql"))
          .with(
              "key_column",
              "(select a.attname from pg_attribute a where a.attrelid = tg_relid and a.attnum = "
                  + CatalogTable.keyAttnum("tg_relid")
                  + ")");

  /** Moves the replica identity off the index with a column. */
  private static final SqlTemplate IDENTITY = file("identity.sql");

  /** Every foreign key to the table is bound to one of them. */
  private static final String ANY_INDEX =
      "any (select i.indexrelid from pg_index i where i.indrelid = <oid>::oid)";

  /** Dropped by this run: after a drop by hand, the functions of the run still exist. */
  private static final String IS_GONE =
      "select exists (select from pg_attribute where attrelid = <oid>::oid"
          + " and attnum = <key_attnum> and attisdropped)"
          + " and to_regprocedure(<'mint'> || '()') is not null"
          + " and to_regprocedure(<'on_delete'> || '()') is null";

  /** The column is nullable, or a partition has no foreign key: its rows may have no parent. */
  private static final String MAY_BE_NULL =
      """
      (not coalesce((select a.attnotnull from pg_attribute a where a.attrelid = <child_oid>::oid
                        and a.attnum = <child_attnum>::int2), false)
       or exists (
         select from pg_partition_tree(<child_oid>::oid::regclass) l
           join pg_class c on c.oid = l.relid and c.relkind = 'r'
          where not %s))\
      """
          .formatted(TargetSql.isBound("l.relid", "<'fk_name'>"));

  private static final String HAS_CHECK =
      "exists (select from pg_constraint where conrelid = <child_oid>::oid"
          + " and conname = <'ref_filled_name'>";

  private final Target target;
  private final TargetSql names;

  ContractSteps(Target target) {
    this.target = target;
    this.names = new TargetSql(target);
  }

  List<Step> all() {
    return Stream.of(
            Stream.of(archive()),
            target.children().stream().map(this::notNull),
            Stream.of(dropColumns()))
        .flatMap(steps -> steps)
        .toList();
  }

  /** A query for what uses the column of the legacy IDs or a column that refers to it, in words. */
  List<String> dependents() {
    return columns().flatMap(column -> column.fill(DEPENDENTS)).toList();
  }

  /** Remembers the triggers for the session, in which the last step compares them. */
  String rememberTriggers() {
    return columns()
        .flatMap(column -> column.fill(TRIGGERS_SEEN))
        .collect(
            Collectors.joining(
                " union all ",
                "select set_config('coatcheck.triggers', coalesce(jsonb_agg(t), '[]')::text, false)"
                    + " from (",
                ") as t"));
  }

  private Step archive() {
    return new Step.Archive(
        Phase.CONTRACT, names.fillAll(file("archive.sql")), names.fillAll(file("archive-end.sql")));
  }

  /** Nothing, if the column of the child may be null too. */
  private Step notNull(Child child) {
    TargetSql more = new TargetSql(target).with(child);
    return new Step.NotNullCheck(
        Phase.CONTRACT,
        "child-not-null " + child.label(),
        underLock(more, "child-not-null.sql"),
        more.fill(file("child-not-null-validate.sql")),
        underLock(more, "child-not-null-undo.sql"),
        more.fill("select " + MAY_BE_NULL + " or " + HAS_CHECK + " and convalidated)"),
        more.fill("select " + HAS_CHECK + ")"),
        more.fill("select 0::bigint"),
        more.fill(
            "select t.<fk>::bigint from <child> t where t.<ref> is null and t.<fk> > ? limit 20"),
        Optional.of(child));
  }

  /** The statements of a file, once the child and its partitions are locked. */
  private static List<String> underLock(TargetSql child, String name) {
    return Stream.of(ChildSteps.LOCK, file(name))
        .flatMap(template -> child.fillAll(template).stream())
        .toList();
  }

  private Step dropColumns() {
    List<String> statements =
        Stream.of(
                Stream.of(names.fill(FunctionTable.ONE_BY_ONE)),
                names.fillAll(LOCK.with("bound_index", ANY_INDEX)).stream(),
                ChildSteps.of(target).map(child -> child.defaults(false)),
                columns().flatMap(column -> column.fill(GATE)),
                names.fillAll(UNCHANGED).stream(),
                columns().flatMap(Column::drop),
                names.fillAll(TRIGGERS).stream())
            .flatMap(some -> some)
            .toList();
    return new Step.Ddl(
        Phase.CONTRACT, Step.DROP_COLUMNS, statements, List.of(), names.fill(IS_GONE));
  }

  /**
   * Moves the replica identity before the column of the keys is dropped or becomes nullable:
   * without a replica identity Postgres refuses every update of a published table.
   */
  static SqlTemplate withoutIdentity(SqlTemplate statements) {
    return statements
        .with("identity", IDENTITY.text())
        .with("relation", "<oid>")
        .with(
            "attnum",
            "(select a.attnum from pg_attribute a where a.attrelid = <oid>::oid"
                + " and a.attname = <'key'>)")
        .with("twin", "''");
  }

  /**
   * A column to be dropped.
   *
   * @param triggers that kept it in step up to now
   * @param dropped the statements that drop it
   */
  private record Column(
      TargetSql names,
      String relation,
      String attnum,
      String name,
      String twin,
      String triggers,
      SqlTemplate dropped) {
    Stream<String> drop() {
      return fill(dropped);
    }

    Stream<String> fill(SqlTemplate template) {
      SqlTemplate whole =
          template
              .with("identity", IDENTITY.text())
              .with("is_switched", SwitchSteps.HAS_NEW_PRIMARY_KEY)
              .with("dependents", DEPENDENTS.text())
              .with("relation", relation)
              .with("attnum", attnum)
              .with("column_name", name)
              .with("twin", twin)
              .with("triggers", triggers);
      return names.fillAll(whole).stream();
    }
  }

  private Stream<Column> columns() {
    Column key =
        new Column(names, "<oid>", "<key_attnum>", "<'id'>", "<'key'>", TABLE_TRIGGERS, DROP_KEY);
    return Stream.concat(
        target.children().stream()
            .map(
                child ->
                    new Column(
                        new TargetSql(target).with(child),
                        "<child_oid>",
                        "<child_attnum>",
                        "<'fk'>",
                        "<'ref_name'>",
                        "<'t_ref'>, <'t_ref_late'>",
                        DROP_REFERENCE)),
        Stream.of(key));
  }
}
