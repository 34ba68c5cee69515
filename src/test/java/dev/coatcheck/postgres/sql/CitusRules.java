package dev.coatcheck.postgres.sql;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** What Citus refuses to do with distributed tables, or does at many times the cost. */
public final class CitusRules {
  private static final String TABLE =
      "coatcheck\\.(public_id_uuid|public_id|alias|idempotency_[0-8])\\b";
  private static final Pattern DISTRIBUTED = Pattern.compile(TABLE);
  private static final Pattern OF_ONE_SHARD =
      Pattern.compile("\\bbucket = (any\\()?(cast\\()?[$?]");
  private static final Pattern JOIN = Pattern.compile("\\bjoin\\b");
  private static final Pattern LOCK = Pattern.compile("\\bfor (no key )?(update|(key )?share)\\b");
  private static final Pattern FUNCTION = Pattern.compile("\\bunnest\\b");
  private static final Pattern SELECTED =
      Pattern.compile("insert into " + TABLE + ".*\\bselect\\b");
  private static final Pattern CHANGE = Pattern.compile("(update|delete from) (only )?" + TABLE);

  private CitusRules() {}

  /** Why Citus refuses a statement; empty if it doesn't. */
  public static Optional<String> refusal(String statement) {
    String text = statement.toLowerCase(Locale.ROOT).replaceAll("\\s+", " ").replace("\"", "");
    long tables =
        DISTRIBUTED.matcher(text).results().map(found -> found.group(1)).distinct().count();
    boolean isOfOneShard = OF_ONE_SHARD.matcher(text).find();
    if (tables == 0) {
      return Optional.empty();
    }
    if (JOIN.matcher(text).find() && tables > 1 && !text.contains("idempotency_")) {
      return Optional.of("joins distributed tables by other columns than the bucket");
    }
    if (SELECTED.matcher(text).find()) {
      return Optional.of("inserts what it selects, by way of the coordinator");
    }
    if (isOfOneShard) {
      return Optional.empty();
    }
    if (LOCK.matcher(text).find()) {
      return Optional.of("locks rows of several shards");
    }
    if (FUNCTION.matcher(text).find()) {
      return Optional.of("joins several shards to a table function");
    }
    return CHANGE.matcher(text).find()
        ? Optional.of("changes rows of all shards")
        : Optional.empty();
  }
}
