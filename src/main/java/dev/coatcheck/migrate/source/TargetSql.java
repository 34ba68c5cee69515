package dev.coatcheck.migrate.source;

import dev.coatcheck.core.key.SnowflakeLayout;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Puts the names of one run into the text of statements, at {@code <name>}. */
public final class TargetSql {
  /** The triggers sort last by name, so that they see what all others made of a row. */
  public static final String TRIGGER_START = "~coatcheck_";

  public static final List<String> TRIGGERS =
      List.of("insert", "inserted", "reused", "delete", "update", "rekey", "truncate");

  /** Of the first int of an advisory lock, so that it means nothing else. */
  public static final int LOCK_CLASS = 0x436f6174;

  private static final Pattern PLACEHOLDER = Pattern.compile("<([a-z_]+)>");

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
    ObjectNames objects = target.objects();
    names.put("table", target.table().quoted());
    names.put("id", target.key());
    names.put("oid", Long.toString(target.oid()));
    names.put("run", TableName.literal(target.run().toString()));
    names.put("schema", ObjectNames.SCHEMA);
    names.put("clock", clock);
    names.put("epoch", Long.toString(SnowflakeLayout.DEFAULT.epochMillis()));
    names.put("lock_class", Integer.toString(LOCK_CLASS));
    names.put("lock_class_of_functions", Integer.toString(LOCK_CLASS + 1));
    names.put("lock_table", Integer.toString((int) target.oid()));
    names.put("created_ms", createdMillis(target));
    names.put("key_attnum", Integer.toString(target.anchors().keyAttnum()));
    names.put("application_path", target.applicationPath().text());
    for (String kind :
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
            "switch")) {
      names.put(kind, objects.ours(kind));
    }
    for (String kind : List.of("new_perm", "new_pk", "old_perm", "filled")) {
      names.put(kind, objects.quoted(kind));
      names.put("drop_" + kind, objects.beside(kind));
    }
    names.put("mint_seq_text", TableName.literal(objects.ours("mint_seq")));
    names.put("fill_text", TableName.literal(objects.ours("fill") + "(bigint[], bigint[])"));
    names.put("on_reused_text", TableName.literal(objects.ours("on_reused") + "()"));
    names.put("first_schema", TableName.literal(target.anchors().firstName().schema()));
    names.put("first_name", TableName.literal(target.anchors().firstName().table()));
    names.put("archive_text", TableName.literal(objects.ours("archive")));
    names.put("switch_text", TableName.literal(objects.ours("switch")));
    names.put("filled_text", TableName.literal(objects.derived("filled")));
    names.put("t_archived", TableName.quoted(TRIGGER_START + "archived"));
    for (String event : TRIGGERS) {
      names.put("t_" + event, TableName.quoted(TRIGGER_START + event));
    }
    names.put("body", bodyQuote());
  }

  /** What the body of a function stands between; no name holds it. */
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

  public String fill(String template) {
    return PLACEHOLDER
        .matcher(template)
        .replaceAll(
            placeholder -> {
              String name = names.get(placeholder.group(1));
              if (name == null) {
                throw new IllegalArgumentException("no name for " + placeholder.group());
              }
              return Matcher.quoteReplacement(name);
            });
  }

  /**
   * The text of a statement that lies beside the classes, without the line end of its last line.
   */
  public static String template(String resource) {
    try (InputStream in = TargetSql.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + resource);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).stripTrailing();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
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
