package dev.coatcheck.app.client;

import java.util.List;
import tools.jackson.databind.JsonNode;

/** An answer of the gateway, of any status. */
record Reply(int status, JsonNode body) {
  private static final int UNAVAILABLE = 503;

  boolean isSuccess() {
    return status < 300;
  }

  /** The problem in the body, for the terminal. After 503 a retry may succeed. */
  CommandFailed failure() {
    StringBuilder message =
        new StringBuilder(
            "%s (%s). %s [%s]"
                .formatted(text("title"), text("code"), text("detail"), text("request_id")));
    for (String list : List.of("refusals", "preconditions")) {
      for (JsonNode entry : body.path(list)) {
        message
            .append(System.lineSeparator())
            .append("  ")
            .append(entry.path("code").asString(""))
            .append(": ")
            .append(entry.path("detail").asString(""));
      }
    }
    return status == UNAVAILABLE
        ? new NoAnswer(message.toString())
        : new CommandFailed(message.toString());
  }

  private String text(String field) {
    return body.path(field).asString("");
  }
}
