package dev.coatcheck.app.client;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** An answer of the gateway, of any status. */
public record Reply(int status, JsonNode body) {
  /** Statuses after which the same call may succeed. */
  private static final Set<Integer> FOR_NOW = Set.of(429, 503);

  private static final Pattern OPERATION =
      Pattern.compile("(GET|POST|PUT|PATCH) /v1/[a-z{}/-]*[a-z}]");

  /** The verb for each operation that an answer recommends. */
  private static final Map<String, String> VERBS =
      Map.ofEntries(
          Map.entry("GET /v1/access/keys", "coatcheck access list"),
          Map.entry("POST /v1/access/keys/{id}/revoke", "coatcheck access revoke"),
          Map.entry("GET /v1/ids/{id}", "coatcheck resolve"),
          Map.entry("POST /v1/ids", "coatcheck mint"),
          Map.entry("POST /v1/ids/lookup", "coatcheck lookup"),
          Map.entry("POST /v1/keys", "coatcheck keys next"),
          Map.entry("GET /v1/table-migrations", "coatcheck migrate-table status"),
          Map.entry("GET /v1/types", "coatcheck types list"),
          Map.entry("GET /v1/types/{name}", "coatcheck types get"),
          Map.entry("PUT /v1/types/{name}", "coatcheck types put"),
          Map.entry("PATCH /v1/types/{name}", "coatcheck types set"),
          Map.entry("POST /v1/types/{name}/eras", "coatcheck types era"),
          Map.entry("POST /v1/types/{name}/pin", "coatcheck types pin"),
          Map.entry("PUT /v1/segments/{tag}", "coatcheck segments put"),
          Map.entry("GET /v1/workers", "coatcheck keys list"));

  public boolean isSuccess() {
    return status < 300;
  }

  /** Whether the same call may succeed later. */
  boolean isForNow() {
    return FOR_NOW.contains(status);
  }

  /** A sentence of the gateway, with verbs where it names operations. */
  public static String forTerminal(String sentence) {
    return OPERATION
        .matcher(sentence)
        .replaceAll(
            operation ->
                Matcher.quoteReplacement(VERBS.getOrDefault(operation.group(), operation.group())));
  }

  /** The problem in the body, for the terminal. After 429 and 503 a retry may succeed. */
  public CommandFailed failure() {
    StringBuilder message =
        new StringBuilder(
            "%s (%s). %s [%s]".formatted(title(), text("code"), detail(), text("request_id")));
    for (String list : List.of("refusals", "preconditions", "dying_links")) {
      for (JsonNode entry : body.path(list)) {
        message
            .append(System.lineSeparator())
            .append("  ")
            .append(entry.path("code").asString(entry.path("param").asString("")))
            .append(": ")
            .append(forTerminal(entry.path("detail").asString("")));
      }
    }
    if (body.has("dying_links")) {
      message
          .append(System.lineSeparator())
          .append(
              "  %,d public IDs of the type are live%s, and their legacy IDs were found %,d times in 30 days."
                  .formatted(
                      body.path("live_ids").asLong(),
                      body.path("live_ids_exact").asBoolean(true) ? "" : " at least",
                      body.path("legacy_hits_30_days").asLong()));
    }
    return isForNow()
        ? new NoAnswer(message.toString())
        : new CommandFailed(text("param"), message.toString());
  }

  private String title() {
    return text("code").equals("path_invalid") ? "Invalid argument" : text("title");
  }

  /** The verb has other words for what makes up a request. */
  private String detail() {
    return switch (text("code")) {
      case "path_invalid" ->
          "An argument contains a slash, a percent sign or another character that no name, ID or"
              + " key contains, or is nothing but dots.";
      case "not_found" ->
          "An argument is empty, or the version of this gateway does not have this verb.";
      case "links_would_die" ->
          "The change ends links that have a target today. Nothing was changed. Add --confirm-links"
              + " to end them.";
      case "table_migration_refused" -> "Nothing was changed. Each line says what to do.";
      case "preconditions_not_accepted" -> "Meet each of these, then add its code to --accept.";
      case "table_migration_state" ->
          forTerminal(text("detail")) + " coatcheck migrate-table status prints the next command.";
      default -> forTerminal(text("detail"));
    };
  }

  private String text(String field) {
    return body.path(field).asString("");
  }
}
