package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All steps of a run, in order, with every statement that it will send. The statements are in files
 * beside this class, which say what they do and which locks they take.
 */
public final class Steps {
  private static final SqlTemplate NUMBER_SOURCE_OF_ANY = file("number-source.sql");

  static final SqlTemplate NUMBER_SOURCE =
      NUMBER_SOURCE_OF_ANY
          .with("number_source", "<mint>()")
          .with("numbers", "<'mint_seq'>::regclass");

  private static final SqlTemplate PREPARE = file("prepare.sql");

  /** Reads the whole archive of an earlier run. */
  private static final SqlTemplate ARCHIVED_MAXIMA = file("archived-maxima.sql");

  /** Functions that read the legacy ID of a row by the name of its column. */
  private static final List<SqlTemplate> NAMING =
      List.of(
          FunctionTable.guarded(file("on-insert.sql")),
          FunctionTable.guarded(file("on-inserted.sql")),
          FunctionTable.guarded(file("on-archived.sql")),
          FunctionTable.guarded(file("on-delete.sql")));

  private static final SqlTemplate GIVE_TO_OWNER = file("give-to-owner.sql");

  private static final String IS_PREPARED = "select to_regclass(<'mint_seq'>) is not null";

  private static final String HAS_TRIGGER =
      "select exists (select from pg_trigger where tgrelid = <oid>::oid"
          + " and quote_ident(tgname) = <'t_insert'>)";

  private static final String HAS_CHECK =
      "exists (select from pg_constraint where conrelid = <oid>::oid"
          + " and conname = <'filled_name'>";

  private static final String IS_NOT_NULL =
      "(select attnotnull from pg_attribute where attrelid = <oid>::oid and attname = <'key'>)";

  private final Target target;
  private final TargetSql names;
  private final SwitchSteps keys;

  private Steps(Target target) {
    this.target = target;
    this.names = new TargetSql(target);
    this.keys = new SwitchSteps(target);
  }

  /**
   * The steps of a run. Objects that only the switch of the primary key needs are built for the
   * switch, because an unused index slows every writer.
   */
  public static List<Step> of(Target target) {
    Steps steps = new Steps(target);
    return Stream.of(
            steps.toKeys(), steps.ofChildren(), steps.keys.all(), new ContractSteps(target).all())
        .flatMap(List::stream)
        .toList();
  }

  /** The statements that a trial sends. It needs no numbers above those of an earlier run. */
  static List<String> ofTrial(Target target) {
    List<String> archived = new TargetSql(target).fillAll(ARCHIVED_MAXIMA);
    return of(target).stream()
        .filter(step -> step.phase() == Phase.EXPAND)
        .flatMap(step -> step.statements().stream())
        .filter(statement -> !archived.contains(statement))
        .toList();
  }

  /** Queries, in words, for what uses the columns that the last phase drops. */
  public static List<String> dependents(Target target) {
    return new ContractSteps(target).dependents();
  }

  /** The steps of these names that partitions may lack which were added later. */
  public static List<Step> ofPartitions(Target target) {
    List<Step> again =
        ChildSteps.of(target)
            .flatMap(ChildSteps::again)
            .collect(Collectors.toCollection(ArrayList::new));
    if (!again.isEmpty()) {
      again.add(new SwitchSteps(target).validate(Phase.CHILDREN));
    }
    return again;
  }

  /** A number source under another name, whose callers say the sequence. */
  public static SqlTemplate numberSourceOf(String function) {
    return NUMBER_SOURCE_OF_ANY
        .with("number_source", "<" + function + ">(numbers regclass)")
        .with("numbers", "numbers");
  }

  /** Removes what is beside a table, after its triggers are gone and its outbox is empty. */
  public static List<String> retirement(Target target) {
    return new TargetSql(target).fillAll(file("prepare-undo.sql"));
  }

  /** The steps until each row has a key. */
  private List<Step> toKeys() {
    return List.of(
        prepare(),
        dualWrite(),
        new Step.Archive(Phase.EXPAND, names.fillAll(file("archive.sql")), List.of()),
        new Step.Fill(
            Phase.BACKFILL,
            "fill",
            Backfill.STATEMENTS.stream().map(names::fill).toList(),
            Optional.empty()),
        keys.index(Phase.INDEX, "new-perm", "<key>", List.of()),
        check(),
        notNull());
  }

  /** All of one child before the next, and then the validation of all rows. */
  private List<Step> ofChildren() {
    return Stream.concat(
            ChildSteps.of(target).flatMap(ChildSteps::all),
            target.children().isEmpty()
                ? Stream.of()
                : Stream.of(keys.validate(Phase.CHILDREN), keys.merge(Phase.CHILDREN)))
        .toList();
  }

  /** The statements to send if a column was renamed or the table has a new owner. */
  static List<String> functions(Target target) {
    TargetSql names = new TargetSql(target);
    return Stream.concat(NAMING.stream(), Stream.of(GIVE_TO_OWNER))
        .flatMap(template -> names.fillAll(template).stream())
        .toList();
  }

  /** The schema, and the objects that an undo reads or locks, created empty if they are missing. */
  static List<String> mending() {
    return PREPARE.statements().stream()
        .filter(statement -> statement.startsWith("create ") || statement.startsWith("do "))
        .map(create -> create.replaceFirst("^(create \\w+) (?!if )", "$1 if not exists "))
        .toList();
  }

  private Step prepare() {
    List<SqlTemplate> rest =
        List.of(
            file("on-reused.sql"),
            FunctionTable.guarded(file("on-update.sql")),
            file("on-refused.sql"),
            file("fill.sql"),
            file("rights.sql"),
            GIVE_TO_OWNER);
    return new Step.Ddl(
        Phase.EXPAND,
        Step.PREPARE,
        Stream.of(List.of(PREPARE, NUMBER_SOURCE), NAMING, rest)
            .flatMap(List::stream)
            .flatMap(template -> names.fillAll(template).stream())
            .toList(),
        names.fillAll(file("prepare-undo.sql")),
        names.fill(IS_PREPARED));
  }

  private Step dualWrite() {
    return new Step.Ddl(
        Phase.EXPAND,
        Step.DUAL_WRITE,
        names.fillAll(ARCHIVED_MAXIMA, file("dual-write.sql")),
        names.fillAll(file("dual-write-undo.sql")),
        names.fill(HAS_TRIGGER));
  }

  private Step check() {
    return new Step.NotNullCheck(
        Phase.NOT_NULL,
        "validate",
        names.fillAll(file("check.sql")),
        names.fill(file("validate.sql")),
        names.fillAll(file("check-undo.sql")),
        names.fill("select " + HAS_CHECK + " and convalidated) or " + IS_NOT_NULL),
        names.fill("select " + HAS_CHECK + ")"),
        names.fill("select coalesce(max(t.<id>), 0)::bigint from <table> t"),
        names.fill(
            "select t.<id>::bigint from <table> t where t.<key> is null"
                + " and t.<id> > ? order by t.<id> limit 20"),
        Optional.empty());
  }

  private Step notNull() {
    return new Step.Ddl(
        Phase.NOT_NULL,
        "set-not-null",
        names.fillAll(file("set-not-null.sql")),
        names.fillAll(ContractSteps.withoutIdentity(file("set-not-null-undo.sql"))),
        names.fill("select " + IS_NOT_NULL));
  }

  /**
   * Locks several tables within the time for one lock.
   *
   * @param tables a query for their OIDs and those of the roots of their trees
   * @param withTrees whether the trees are locked as a whole
   */
  static SqlTemplate lock(String mode, String tables, boolean withTrees) {
    return file("lock.sql")
        .with("tables", tables)
        .with("with_trees", Boolean.toString(withTrees))
        .with("mode", mode);
  }

  static SqlTemplate file(String name) {
    return SqlTemplate.file(Steps.class, name);
  }
}
