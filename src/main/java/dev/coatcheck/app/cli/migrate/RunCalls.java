package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Misused;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Calls the API about one run. A mixin with the ID of the run and the options of a call. */
@Command
final class RunCalls {
  static final String RUNS = "/v1/table-migrations";
  static final String DESCRIPTION = "Number of the run, as plan printed it.";
  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");

  @Mixin private GatewayCalls gateway = new GatewayCalls();

  @Parameters(paramLabel = "ID", description = DESCRIPTION)
  private String id;

  RunCalls() {}

  /** For a command whose ID is optional. */
  RunCalls(GatewayCalls gateway, String id) {
    this.gateway = gateway;
    this.id = id;
  }

  String id() {
    return id;
  }

  GatewayCalls gateway() {
    return gateway;
  }

  JsonNode get() throws CommandFailed {
    return gateway.get(path(""));
  }

  /**
   * Whether the last verification or undo that was asked for was paused or cancelled since. A later
   * event may still tell of what the instance did until it noticed.
   */
  boolean isStopped() throws CommandFailed {
    boolean isStopped = false;
    long last = 0;
    JsonNode page;
    do {
      page = gateway.get(path("/events?after=" + last)).path("data");
      for (JsonNode event : page) {
        last = event.path("number").asLong();
        isStopped =
            switch (event.path("kind").asString()) {
              case "verify", "undo" -> false;
              case "pause", "cancel" -> true;
              default -> isStopped;
            };
      }
    } while (!page.isEmpty());
    return isStopped;
  }

  JsonNode patch(Object body) throws CommandFailed {
    return gateway.patch(path(""), body);
  }

  JsonNode post(String action) throws CommandFailed {
    return gateway.post(path(action));
  }

  JsonNode post(String action, Object body) throws CommandFailed {
    return gateway.post(path(action), body);
  }

  String path(String action) throws Misused {
    if (!NUMBER.matcher(id).matches()) {
      throw new Misused("ID must be the number of a run, as plan printed it.");
    }
    return RUNS + "/" + id + action;
  }
}
