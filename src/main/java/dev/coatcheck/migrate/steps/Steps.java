package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.backfill.RowKeyTable;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import java.util.List;
import java.util.stream.Stream;

/**
 * All steps of a run, in order, with every statement that it will send. The statements lie in the
 * files beside this class, which say what they do and which locks they take.
 */
public final class Steps {
  static final SqlTemplate NUMBER_SOURCE = file("number-source.sql");

  private static final SqlTemplate PREPARE = file("prepare.sql");

  /** Functions that read the legacy ID of a row by the name of its column. */
  private static final List<SqlTemplate> NAMING =
      List.of(
          file("on-insert.sql"),
          file("on-inserted.sql"),
          file("on-archived.sql"),
          file("on-delete.sql"));

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

  private static final String HAS_NEW_PRIMARY_KEY =
      "select exists (select from pg_constraint p join pg_attribute a on a.attrelid = p.conrelid"
          + " and a.attname = <'key'> where p.conrelid = <oid>::oid and p.contype = 'p'"
          + " and p.conkey = array[a.attnum])";

  private static final String FOREIGN_KEYS_TO_VALIDATE =
      "select format('alter table %s validate constraint %I', f.conrelid::regclass, f.conname)"
          + " from pg_constraint f where f.contype = 'f' and f.confrelid = <oid>::oid"
          + " and not f.convalidated order by f.oid";

  private static final SqlTemplate MERGE = file("merge.sql");

  private static final String HAS_TO_MERGE =
      "select exists (select from <schema>.foreign_key_to_merge where run = <run>)";

  private static final SqlTemplate TURN = file("turn.sql");

  private static final SqlTemplate PRIMARY_KEY = file("primary-key.sql");

  private static final SqlTemplate LOCK = file("lock.sql");

  private static final String INDEX_OF_PRIMARY_KEY =
      "(select p.conindid from pg_constraint p where p.conrelid = <oid>::oid and p.contype = 'p')";

  private final Target target;
  private final TargetSql names;

  private Steps(Target target) {
    this.target = target;
    this.names = new TargetSql(target);
  }

  /**
   * The steps of a run. What only the switch of the primary key needs is not built before: an index
   * that nobody reads costs every writer.
   */
  public static List<Step> of(Target target) {
    Steps steps = new Steps(target);
    return Stream.of(steps.toKeys(), steps.ofChildren(), steps.toSwitch())
        .flatMap(List::stream)
        .toList();
  }

  /** Up to where each row has a key. */
  private List<Step> toKeys() {
    return List.of(
        prepare(),
        dualWrite(),
        new Step.Archive(names.fillAll(file("archive.sql"))),
        new Step.Fill(Backfill.STATEMENTS.stream().map(names::fill).toList()),
        index(Phase.INDEX, "new-perm", List.of()),
        check(),
        notNull());
  }

  /** All of one child before the next, and then the server's look at all rows. */
  private List<Step> ofChildren() {
    return Stream.concat(
            target.children().stream().flatMap(child -> new ChildSteps(target, child).all()),
            target.children().isEmpty()
                ? Stream.of()
                : Stream.of(validate(Phase.CHILDREN), merge(Phase.CHILDREN)))
        .toList();
  }

  private List<Step> toSwitch() {
    return List.of(
        new Step.Verify(),
        merge(Phase.PREPARE_SWITCH),
        validate(Phase.PREPARE_SWITCH),
        index(Phase.PREPARE_SWITCH, "old-perm", release()),
        index(Phase.SWITCH, Step.NEW_PK, List.of()),
        primaryKey(),
        validate(Phase.SWITCH),
        merge(Phase.SWITCH),
        new Step.Spare(index(Phase.SWITCH, "old-pk", List.of()), names.fill(HAS_NEW_PRIMARY_KEY)));
  }

  /** A query for whether the new keys are the primary key. */
  static String hasNewPrimaryKey(Target target) {
    return new TargetSql(target).fill(HAS_NEW_PRIMARY_KEY);
  }

  /** What has to be sent when a column has another name now, or the table another owner. */
  static List<String> functions(Target target) {
    TargetSql names = new TargetSql(target);
    return Stream.concat(NAMING.stream(), Stream.of(GIVE_TO_OWNER))
        .flatMap(template -> names.fillAll(template).stream())
        .toList();
  }

  /** What an undo reads or locks, each made empty if it is not there. */
  static List<String> mending() {
    return PREPARE.statements().stream()
        .filter(statement -> statement.startsWith("create "))
        .map(create -> create.replaceFirst("^(create \\w+) (?!if )", "$1 if not exists "))
        .toList();
  }

  private Step prepare() {
    List<SqlTemplate> rest =
        List.of(
            file("on-reused.sql"),
            file("on-update.sql"),
            file("on-refused.sql"),
            RowKeyTable.FUNCTION,
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
        names.fillAll(file("dual-write.sql")),
        names.fillAll(file("dual-write-undo.sql")),
        names.fill(HAS_TRIGGER));
  }

  private Step.Index index(Phase phase, String name, List<String> release) {
    return new Step.Index(
        phase,
        name,
        target.oid(),
        target.objects().derived(name.replace('-', '_')),
        true,
        names.fill(TURN),
        names.fill(file(name + ".sql")),
        release,
        names.fill(file(name + "-undo.sql")));
  }

  private Step primaryKey() {
    return new Step.Ddl(
        Phase.SWITCH,
        Step.PRIMARY_KEY,
        primaryKey("new_pk", "old_perm", true),
        primaryKey("old_pk", "new_perm", false),
        names.fill(HAS_NEW_PRIMARY_KEY));
  }

  private List<String> release() {
    return Stream.of(
            LOCK.with("bound_index", "to_regclass(<'beside_old_perm'>)"),
            file("old-perm-release.sql"))
        .flatMap(template -> names.fillAll(template).stream())
        .toList();
  }

  /**
   * Moves the primary key.
   *
   * @param spare the index that it consumes
   * @param stays the index on the column that it leaves
   * @param isForward everything has to be there; on the way back nothing that is there may be off
   */
  private List<String> primaryKey(String spare, String stays, boolean isForward) {
    SqlTemplate move =
        PRIMARY_KEY
            .with("'spare'", "<'" + spare + "'>")
            .with("'beside_spare'", "<'beside_" + spare + "'>")
            .with("'stays'", "<'" + stays + "'>")
            .with("'beside_stays'", "<'beside_" + stays + "'>")
            .with("must_be_there", Boolean.toString(isForward));
    List<ChildSteps> children =
        target.children().stream().map(child -> new ChildSteps(target, child)).toList();
    return Stream.of(
            Stream.of(names.fill(FunctionTable.ONE_BY_ONE)),
            names.fillAll(LOCK.with("bound_index", INDEX_OF_PRIMARY_KEY)).stream(),
            children.stream().map(child -> child.gate(isForward)),
            names.fillAll(move).stream(),
            children.stream().map(child -> child.leading(isForward)))
        .flatMap(statements -> statements)
        .toList();
  }

  /** Also on the way back, where an undo has added foreign keys again. */
  private Step merge(Phase phase) {
    List<String> merge = names.fillAll(MERGE);
    return new Step.Merge(phase, merge, names.fill(HAS_TO_MERGE));
  }

  private Step validate(Phase phase) {
    return new Step.Validate(phase, names.fill(FOREIGN_KEYS_TO_VALIDATE));
  }

  private Step check() {
    return new Step.NotNullCheck(
        Phase.NOT_NULL,
        "validate",
        names.fillAll(file("check.sql")),
        names.fill(file("validate.sql")),
        names.fill(file("check-undo.sql")),
        names.fill("select " + HAS_CHECK + " and convalidated) or " + IS_NOT_NULL),
        names.fill("select " + HAS_CHECK + ")"),
        names.fill("select coalesce(max(t.<id>), 0)::bigint from <table> t"),
        names.fill(
            "select t.<id>::bigint from <table> t where t.<key> is null"
                + " and t.<id> > ? order by t.<id> limit 20"));
  }

  private Step notNull() {
    return new Step.Ddl(
        Phase.NOT_NULL,
        "set-not-null",
        names.fillAll(file("set-not-null.sql")),
        names.fillAll(file("set-not-null-undo.sql")),
        names.fill("select " + IS_NOT_NULL));
  }

  private static SqlTemplate file(String name) {
    return SqlTemplate.file(Steps.class, name);
  }
}
