package dev.coatcheck.migrate.source;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.postgres.connection.SqlState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The names and numbers of one run, and the only class that fills them into statements. */
public final class TargetSql {
  /** Our triggers sort last by name, so that they see what all others changed in a row. */
  public static final String TRIGGER_START = "~coatcheck_";

  public static final List<String> TRIGGERS =
      List.of("insert", "inserted", "reused", "delete", "update", "rekey", "truncate");

  /** The first int of our advisory locks, which distinguishes them from others. */
  public static final int LOCK_CLASS = 0x436f6174;

  /**
   * A regular expression, as a string of SQL, for the default of a column that is a number, in the
   * words of {@code pg_get_expr}.
   */
  public static final String CONSTANT_DEFAULT = "'^[(]?''?-?[0-9]+''?[)]?(::[a-z]+)?$'";

  /** The same for {@code null}. */
  public static final String NULL_DEFAULT = "'^NULL(::[a-z]+)?$'";

  /** The objects in our schema, by kind. */
  private static final List<String> OURS =
      List.of(
          "mint_seq",
          "mint",
          "on_insert",
          "on_inserted",
          "on_archived",
          "on_reused",
          "on_delete",
          "on_update",
          "on_refused",
          "fill",
          "archive",
          "outbox_a",
          "outbox_b",
          "switch");

  /**
   * The unique indexes of a run. Foreign keys are bound to those that stay ({@code perm}); the
   * other two become the index of the primary key in turn.
   */
  public static final List<String> INDEXES = List.of("new_perm", "new_pk", "old_perm", "old_pk");

  /** Of triggers on children; followed by the OID of the parent and the number of the column. */
  private static final String CHILD_TRIGGER_START = TRIGGER_START + "ref_";

  private static final List<String> CHILD_FUNCTIONS = List.of("on_ref", "on_ref_late", "fill_ref");

  private final Target target;
  private final Map<String, String> names = new HashMap<>();

  public TargetSql(Target target) {
    this(target, "clock_timestamp()");
  }

  /**
   * With another clock for the number source.
   *
   * @param clock an expression of type timestamptz
   */
  public TargetSql(Target target, String clock) {
    this.target = target;
    ObjectNames objects = target.objects();
    names.put("table", target.table().quoted());
    names.put("id", target.key());
    names.put("key", Target.NEW_COLUMN);
    names.put("oid", Long.toString(target.oid()));
    names.put("run", TableName.literal(target.run().toString()));
    names.put("schema", ObjectNames.SCHEMA);
    names.put("clock", clock);
    names.put("lock_class", Integer.toString(LOCK_CLASS));
    names.put("lock_class_of_functions", Integer.toString(LOCK_CLASS + 1));
    names.put("lock_table", Integer.toString((int) target.oid()));
    names.put("created_ms", createdMillis(target));
    names.put("key_attnum", Integer.toString(target.anchors().keyAttnum()));
    names.put("application_path", target.applicationPath().text());
    names.put("first_schema", target.anchors().firstName().schema());
    names.put("first_name", target.anchors().firstName().table());
    OURS.forEach(kind -> names.put(kind, objects.ours(kind)));
    INDEXES.forEach(
        kind -> {
          names.put(kind, objects.quoted(kind));
          names.put("beside_" + kind, objects.beside(kind));
        });
    names.put("beside_new_key", objects.beside("new_key"));
    names.put("beside_next_key", objects.beside("next_key"));
    names.put("beside_new_key_sequence", objects.beside("new_key_seq"));
    names.put("new_key_sequence", objects.quoted("new_key_seq"));
    names.put("table_schema", TableName.quoted(target.table().schema()));
    names.put("filled", objects.quoted("filled"));
    names.put("filled_name", objects.derived("filled"));
    names.put("constant_default", CONSTANT_DEFAULT);
    names.put("null_default", NULL_DEFAULT);
    names.put("row_without_key", SqlState.ROW_WITHOUT_KEY);
    names.put("step_refused", SqlState.STEP_REFUSED);
    names.put(
        "trigger_names",
        TRIGGERS.stream()
            .map(event -> TableName.literal(TRIGGER_START + event))
            .collect(Collectors.joining(", ")));
    names.put("t_archived", TableName.quoted(TRIGGER_START + "archived"));
    TRIGGERS.forEach(event -> names.put("t_" + event, TableName.quoted(TRIGGER_START + event)));
    putLayout(SnowflakeLayout.DEFAULT);
    names.put("body", bodyQuote());
  }

  /**
   * How keys are divided. A key is {@code milliseconds << time_shift | worker << sequence_bits |
   * n}, a position {@code milliseconds << sequence_bits | n}.
   */
  private void putLayout(SnowflakeLayout layout) {
    names.put("epoch", Long.toString(layout.epochMillis()));
    names.put("time_shift", Integer.toString(layout.timeShift()));
    names.put("below_time_mask", Integer.toString((1 << layout.timeShift()) - 1));
    names.put("sequence_bits", Integer.toString(layout.sequenceBits()));
    names.put("sequence_mask", Long.toString(layout.sequenceMax()));
    names.put("keys_per_ms", Long.toString(layout.sequenceMax() + 1));
    names.put("worker_mask", Integer.toString(layout.workers() - 1));
    names.put("backfill_worker", Integer.toString(WorkerUses.BACKFILL));
    names.put("number_source_worker", Integer.toString(WorkerUses.NUMBER_SOURCE));
  }

  /** The names of the run together with those of a child. */
  public TargetSql with(Child child) {
    return with(child, new Child.Leaf(child.oid(), child.table()));
  }

  public TargetSql with(Child child, Child.Leaf leaf) {
    TargetSql both = new TargetSql(target);
    Map<String, String> more = both.names;
    ObjectNames objects =
        new ObjectNames(
            new TableName(target.anchors().firstName().text(), child.label()),
            child.table().schema());
    boolean isSelf = child.oid() == target.oid();
    more.put("child", child.table().quoted());
    more.put("child_oid", Long.toString(child.oid()));
    more.put("child_attnum", Integer.toString(child.attnum()));
    more.put("child_label", child.label());
    more.put("fk", TableName.quoted(child.column()));
    more.put("ref", TableName.quoted(child.reference()));
    more.put("ref_name", child.reference());
    more.put("own_key", isSelf ? "case when new.<id> = legacy then new.<key> end" : "null::bigint");
    more.put(
        "own_id", isSelf ? "case when new.<key> = reference then new.<id> end" : "null::bigint");
    CHILD_FUNCTIONS.forEach(kind -> more.put(kind, objects.ours(kind)));
    more.put("fk_name", child.column());
    more.put("leaf", leaf.table().quoted());
    more.put("leaf_oid", Long.toString(leaf.oid()));
    more.put("leaf_is_bound", both.fill(isBound("<leaf_oid>::oid", "<'fk_name'>")));
    more.put("leaf_index", TableName.quoted(leafIndex(child, leaf)));
    more.put(
        "beside_leaf_index",
        TableName.quoted(leaf.table().schema()) + "." + TableName.quoted(leafIndex(child, leaf)));
    more.put("ref_filled", objects.quoted("filled"));
    more.put("ref_filled_name", objects.derived("filled"));
    more.put("ref_key", objects.quoted("fkey"));
    more.put("ref_key_name", objects.derived("fkey"));
    more.put("t_ref", TableName.quoted(childTrigger(child)));
    more.put("t_ref_late", TableName.quoted(childTrigger(child) + "_late"));
    more.replaceAll(
        (name, text) -> name.startsWith("own_") ? SqlTemplate.fill(text, Map.copyOf(more)) : text);
    more.put("body", both.bodyQuote());
    return both;
  }

  /**
   * Whether a table with rows of a child has its foreign key. Some partitions may lack it.
   *
   * @param leaf an expression for its OID
   * @param column an expression for the name of the column
   */
  public static String isBound(String leaf, String column) {
    return """
    exists (
          select from pg_constraint f
            join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
           where f.contype = 'f' and f.conrelid = %s and f.confrelid = <oid>::oid
             and f.confkey = array[<key_attnum>::int2] and a.attname = %s)\
    """
        .formatted(leaf, column);
  }

  /** The trigger of a child; its other trigger has the same name with {@code _late}. */
  public String childTrigger(Child child) {
    return CHILD_TRIGGER_START + target.oid() + "_" + child.attnum();
  }

  /** The index on the twin in a table with rows, or in the partitioned table itself. */
  public String leafIndex(Child child, Child.Leaf leaf) {
    return new ObjectNames(
            new TableName(target.anchors().firstName().text(), child.label() + " " + leaf.oid()),
            leaf.table().schema())
        .derived("ref");
  }

  /** The quotes around the body of a function. No name contains them. */
  private String bodyQuote() {
    String quote = "$coatcheck$";
    for (int n = 1; isInName(quote); n++) {
      quote = "$coatcheck" + n + "$";
    }
    return quote;
  }

  private boolean isInName(String text) {
    return names.values().stream().anyMatch(name -> name.contains(text));
  }

  public String fill(String statement) {
    return SqlTemplate.fill(statement, names);
  }

  public String fill(SqlTemplate template) {
    return SqlTemplate.fill(template.text(), names);
  }

  /** All statements of the templates, in order. */
  public List<String> fillAll(SqlTemplate... templates) {
    return Stream.of(templates)
        .flatMap(template -> template.statements().stream())
        .map(this::fill)
        .toList();
  }

  /** Milliseconds since 1970 of the row {@code t}, or null. */
  private static String createdMillis(Target target) {
    return target
        .createdAt()
        .map(
            column -> {
              String value = "t." + TableName.quoted(column.name());
              String instant =
                  column.type().equals("timestamptz")
                      ? value
                      : value + "::timestamp at time zone 'UTC'";
              return """
              case when isfinite(%s) then floor(extract(epoch from %s) * 1000)::bigint end\
              """
                  .formatted(value, instant);
            })
        .orElse("null::bigint");
  }
}
