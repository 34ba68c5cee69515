package dev.coatcheck.migrate.table;

import static dev.coatcheck.migrate.table.Steps.file;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** The steps of one child: its twin, the rows, the index and the foreign key. */
final class ChildSteps {
  /**
   * On another table, the functions of a child would show that table's owner which rows the parent
   * has, so they do nothing there. A partition counts until it is detached: {@code
   * pg_partition_ancestors} omits partitions that are being detached.
   */
  private static final String ONLY_ON_CHILD =
      """
      if tg_relid <> <child_oid>::oid then
          if not exists (
            with recursive up (relation) as (
              select tg_relid
              union
              select i.inhparent from up join pg_inherits i on i.inhrelid = up.relation)
            select from up where relation in (<child_oid>::oid, to_regclass(<'child'>))) then
            return new;
          end if;
        end if;\
      """;

  private static final String CHILD =
      "select <child_oid>::oid as relation, <child_oid>::oid as root";

  private static final String CHILD_AND_TABLE = CHILD + " union select <oid>::oid, <oid>::oid";

  /** Locks the child with its partitions. */
  static final SqlTemplate LOCK = Steps.lock("access exclusive", CHILD, true);

  /**
   * Whether a new row holds the constant that is the default of a column, in its table or in one
   * above it in a tree of partitions. Without the OID of the child, so that it holds in a restored
   * copy too.
   */
  private static final String IS_DEFAULT =
      """
      exists (
            select from pg_attribute a
              join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
             where a.attrelid = any (array(select tg_relid
                                           union
                                           select pg_partition_ancestors(tg_relid)::oid))
               and a.attname = %s
               and trim(both '\''()' from split_part(pg_get_expr(d.adbin, d.adrelid), '::', 1))
                     = %s::text)\
      """;

  private static final SqlTemplate ON_REF =
      guarded("on-ref.sql")
          .with("reference_is_default", IS_DEFAULT.formatted("<'ref_name'>", "reference"))
          .with("legacy_is_default", IS_DEFAULT.formatted("coalesce(fk, <'fk_name'>)", "legacy"));

  private static final SqlTemplate DEFAULT = file("child-default.sql");
  private static final SqlTemplate ON_REF_LATE =
      guarded("on-ref-late.sql").with("is_bound", TargetSql.isBound("tg_relid", "fk"));
  private static final SqlTemplate FILL_REF = file("fill-ref.sql");
  private static final SqlTemplate GATE = file("child-gate.sql");
  private static final SqlTemplate RIGHTS = file("child-rights.sql");

  private static final String HAS_TRIGGER =
      "select exists (select from pg_trigger where tgrelid = <child_oid>::oid"
          + " and quote_ident(tgname) = <'t_ref'>)";

  private static final String HAS_FUNCTIONS =
      "select to_regprocedure(<'fill_ref'> || '(regclass, tid[], bigint[], boolean)') is not null";

  private static final String BELONGS_TO_OWNER =
      "select not exists (select from pg_proc p"
          + " join pg_class c on c.oid = <child_oid>::oid"
          + " where p.oid = to_regprocedure(<'fill_ref'> || '(regclass, tid[], bigint[], boolean)')"
          + " and (p.proowner <> c.relowner or not has_function_privilege(c.relowner,"
          + " to_regprocedure(<'on_ref_late'> || '()'), 'execute')))";

  private static final String HAS_KEY =
      "select exists (select from pg_constraint where confrelid = <oid>::oid"
          + " and conname = <'ref_key_name'>)";

  /** Whether each partition with a foreign key on the column also has one on the twin. */
  private static final String HAS_ALL_KEYS =
      """
      select not exists (
        select from pg_partition_tree(<child_oid>::oid::regclass) l
          join pg_class c on c.oid = l.relid and c.relkind = 'r'
          join pg_attribute t on t.attrelid = l.relid and t.attname = <'ref_name'>
         where %s and not exists (
           select from pg_constraint g
            where g.conrelid = l.relid and g.confrelid = <oid>::oid and g.contype = 'f'
              and g.conkey = array[t.attnum]))\
      """
          .formatted(TargetSql.isBound("l.relid", "<'fk_name'>"));

  private static final String HAS_ROOT_INDEX =
      "select exists (select from pg_index i join pg_class c on c.oid = i.indexrelid"
          + " where i.indrelid = <child_oid>::oid and quote_ident(c.relname) = <'leaf_index'>)";

  private final Target target;
  private final Child child;
  private final TargetSql names;

  private ChildSteps(Target target, Child child) {
    this.target = target;
    this.child = child;
    this.names = new TargetSql(target).with(child);
  }

  static Stream<ChildSteps> of(Target target) {
    return target.children().stream().map(child -> new ChildSteps(target, child));
  }

  Stream<Step> all() {
    return Stream.of(Stream.of(column(), fill()), indexes(), Stream.of(key()))
        .flatMap(Function.identity());
  }

  /** The steps that partitions may need if they were added after the first pass. */
  Stream<Step> again() {
    return child.isPartitioned() ? Stream.of(fill(), key(HAS_ALL_KEYS)) : Stream.of();
  }

  /**
   * Refuses to move the primary key unless the two columns are kept in step.
   *
   * @param isForward everything has to exist; on the way back, what exists must be enabled
   */
  String gate(boolean isForward) {
    return names.fill(GATE.with("must_be_there", Boolean.toString(isForward)));
  }

  /**
   * Gives the twin the default that the column has now.
   *
   * @param isForward refuses a foreign key that sets a default which is no constant
   */
  String defaults(boolean isForward) {
    return names.fill(DEFAULT.with("refuses_expressions", Boolean.toString(isForward)));
  }

  /** Makes the twin, or the old column again, the one that counts if a statement changes both. */
  String leading(boolean isTwin) {
    return names.fill(ON_REF.with("reference_leads", Boolean.toString(isTwin)));
  }

  /** A query for whether its functions exist, and so may have to be replaced. */
  String hasFunctions() {
    return names.fill(HAS_FUNCTIONS);
  }

  /** A query for whether the functions that write to the child belong to the child's owner. */
  String belongsToOwner() {
    return names.fill(BELONGS_TO_OWNER);
  }

  /** The statements to send if a table or a column was renamed, or has a new owner. */
  List<String> functions(boolean isTwinLeading) {
    return Stream.concat(Stream.of(leading(isTwinLeading)), names.fillAll(RIGHTS).stream())
        .toList();
  }

  private Step column() {
    return new Step.Ddl(
        Phase.CHILDREN,
        named(Step.CHILD_COLUMN),
        Stream.of(
                List.of(names.fill(FunctionTable.ONE_BY_ONE), leading(false)),
                names.fillAll(ON_REF_LATE, FILL_REF, RIGHTS, LOCK, file("child-column.sql")),
                List.of(defaults(true)))
            .flatMap(List::stream)
            .toList(),
        Stream.concat(
                Stream.of(names.fill(FunctionTable.ONE_BY_ONE)),
                names.fillAll(LOCK, file("child-column-undo.sql")).stream())
            .toList(),
        names.fill(HAS_TRIGGER));
  }

  private Step fill() {
    return new Step.Fill(
        Phase.CHILDREN,
        named("child-fill"),
        ChildFillTable.STATEMENTS.stream().map(names::fill).toList(),
        Optional.of(child));
  }

  private Stream<Step> indexes() {
    return Stream.concat(
        child.leaves().stream().map(this::index),
        child.isPartitioned() ? Stream.of(rootIndex()) : Stream.of());
  }

  private Step index(Child.Leaf leaf) {
    TargetSql more = new TargetSql(target).with(child, leaf);
    return new Step.Index(
        Phase.CHILDREN,
        named("child-index") + (child.isPartitioned() ? " " + leaf.table().text() : ""),
        leaf.oid(),
        more.leafIndex(child, leaf),
        more.leafIndex(child, new Child.Leaf(child.oid(), child.table())),
        false,
        more.fill(file("turn.sql").with("table", "<child>")),
        more.fill(file("child-index.sql")),
        List.of(),
        more.fill(file("child-index-undo.sql")),
        Optional.empty());
  }

  private Step rootIndex() {
    return new Step.Ddl(
        Phase.CHILDREN,
        named("child-index"),
        names.fillAll(Steps.lock("share", CHILD, true), file("root-index.sql")),
        names.fillAll(LOCK, file("root-index-undo.sql")),
        names.fill(HAS_ROOT_INDEX));
  }

  private Step key() {
    return key(HAS_KEY);
  }

  private Step key(String check) {
    return new Step.Ddl(
        Phase.CHILDREN,
        named("child-key"),
        names.fillAll(
            Steps.lock("share row exclusive", CHILD_AND_TABLE, true), file("child-key.sql")),
        names.fillAll(
            Steps.lock("access exclusive", CHILD_AND_TABLE, true), file("child-key-undo.sql")),
        names.fill(check));
  }

  private String named(String step) {
    return step + " " + child.label();
  }

  private static SqlTemplate guarded(String name) {
    return file(name)
        .with("only_on_child", ONLY_ON_CHILD)
        .with("fk_column", FunctionTable.columnNow("<child_oid>::oid", "<child_attnum>::int2"))
        .with("id_column", FunctionTable.columnNow("<oid>::oid", "<key_attnum>::int2"));
  }
}
