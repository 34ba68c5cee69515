package dev.coatcheck.migrate.table;

import static dev.coatcheck.migrate.table.Steps.file;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The steps that move the primary key to the new keys, with its indexes and foreign keys. */
final class SwitchSteps {
  static final String HAS_NEW_PRIMARY_KEY =
      "select exists (select from pg_constraint p join pg_attribute a on a.attrelid = p.conrelid"
          + " and a.attname = <'key'> where p.conrelid = <oid>::oid and p.contype = 'p'"
          + " and p.conkey = array[a.attnum])";

  private static final String FOREIGN_KEYS_TO_VALIDATE =
      "select format('alter table %s validate constraint %I', f.conrelid::regclass, f.conname)"
          + " from pg_constraint f where f.contype = 'f' and f.confrelid = <oid>::oid"
          + " and not f.convalidated order by f.oid";

  private static final String HAS_TO_MERGE =
      "select exists (select from <schema>.unbound_foreign_key where run = <run>)";

  private static final String INDEX_OF_PRIMARY_KEY =
      "(select p.conindid from pg_constraint p where p.conrelid = <oid>::oid and p.contype = 'p')";

  private static final SqlTemplate TURN = file("turn.sql");

  private static final SqlTemplate BUILD_INDEX = file("build-index.sql");

  private static final SqlTemplate KEY_INDEX_OPTIONS = file("key-index-options.sql");

  private static final SqlTemplate DROP_INDEX = file("drop-index.sql");

  private static final SqlTemplate PRIMARY_KEY = file("primary-key.sql");

  /** The table, and those whose foreign keys are bound to one of its indexes. */
  static final String TABLES =
      """
      select <oid>::oid as relation, <oid>::oid as root
            union
            select f.conrelid, coalesce(pg_partition_root(f.conrelid)::oid, f.conrelid)
              from pg_constraint f
             where f.contype = 'f' and f.confrelid = <oid>::oid and f.conindid = <bound_index>\
      """;

  private static final String TO_MERGE =
      """
      select <oid>::oid as relation, <oid>::oid as root
            union
            select u.relation, u.relation from <schema>.unbound_foreign_key u where u.run = <run>\
      """;

  private static final SqlTemplate LOCK = Steps.lock("access exclusive", TABLES, false);

  private static final SqlTemplate GATE = file("gate.sql");

  private static final SqlTemplate UNBIND = file("unbind.sql");

  private static final SqlTemplate REBIND = file("rebind.sql");

  private static final SqlTemplate MERGE = file("merge.sql");

  private final Target target;
  private final TargetSql names;

  SwitchSteps(Target target) {
    this.target = target;
    this.names = new TargetSql(target);
  }

  /** From the verification on. */
  List<Step> all() {
    return List.of(
        new Step.Verify(),
        merge(Phase.PREPARE_SWITCH),
        validate(Phase.PREPARE_SWITCH),
        index(Phase.PREPARE_SWITCH, "old-perm", "<id>", release()),
        index(Phase.SWITCH, Step.NEW_PK, "<key>", List.of()),
        primaryKey(),
        validate(Phase.SWITCH),
        merge(Phase.SWITCH),
        new Step.Spare(
            index(Phase.SWITCH, "old-pk", "<id>", List.of()), names.fill(HAS_NEW_PRIMARY_KEY)));
  }

  /** A query for whether the new keys are the primary key. */
  static String hasNewPrimaryKey(Target target) {
    return new TargetSql(target).fill(HAS_NEW_PRIMARY_KEY);
  }

  /**
   * @param name one of {@link TargetSql#INDEXES}, with hyphens
   */
  Step.Index index(Phase phase, String name, String column, List<String> release) {
    String kind = name.replace('-', '_');
    boolean isOfPrimaryKey = kind.endsWith("_pk");
    return new Step.Index(
        phase,
        name,
        target.oid(),
        target.objects().derived(kind),
        target.objects().derived(kind),
        true,
        names.fill(TURN),
        names.fill(
            BUILD_INDEX
                .with("index", "<" + kind + ">")
                .with("column", column)
                .with("options", isOfPrimaryKey ? Step.Index.OPTIONS : "")),
        release,
        names.fill(DROP_INDEX.with("index", "<beside_" + kind + ">")),
        isOfPrimaryKey ? Optional.of(names.fill(KEY_INDEX_OPTIONS)) : Optional.empty());
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
    String index = "to_regclass(<'beside_old_perm'>)";
    return names.fillAll(
        LOCK.with("bound_index", index),
        UNBIND.with("bound_index", index),
        file("old-perm-release.sql"),
        REBIND);
  }

  /**
   * @param spare the index that it consumes
   * @param stays the index on the column that it leaves
   * @param isForward everything has to exist; on the way back, what exists must be enabled
   */
  private List<String> primaryKey(String spare, String stays, boolean isForward) {
    SqlTemplate move =
        PRIMARY_KEY
            .with("'spare'", "<'" + spare + "'>")
            .with("'stays'", "<'" + stays + "'>")
            .with("beside_stays", "<beside_" + stays + ">");
    SqlTemplate gate =
        GATE.with("'beside_spare'", "<'beside_" + spare + "'>")
            .with("'beside_stays'", "<'beside_" + stays + "'>")
            .with("must_be_there", Boolean.toString(isForward));
    SqlTemplate unbind = UNBIND.with("bound_index", INDEX_OF_PRIMARY_KEY);
    List<ChildSteps> children = ChildSteps.of(target).toList();
    return Stream.of(
            Stream.of(names.fill(FunctionTable.ONE_BY_ONE)),
            names.fillAll(LOCK.with("bound_index", INDEX_OF_PRIMARY_KEY)).stream(),
            children.stream().map(child -> child.gate(isForward)),
            names.fillAll(gate, unbind, move, REBIND).stream(),
            children.stream().map(child -> child.defaults(isForward)),
            children.stream().map(child -> child.leading(isForward)))
        .flatMap(statements -> statements)
        .toList();
  }

  /** On the way back too, if an undo has added foreign keys again. */
  Step merge(Phase phase) {
    List<String> merge = names.fillAll(Steps.lock("share row exclusive", TO_MERGE, true), MERGE);
    return new Step.Merge(phase, merge, names.fill(HAS_TO_MERGE));
  }

  Step validate(Phase phase) {
    return new Step.Validate(phase, names.fill(FOREIGN_KEYS_TO_VALIDATE));
  }
}
