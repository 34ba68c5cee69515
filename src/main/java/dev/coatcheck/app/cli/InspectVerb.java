package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck inspect}: what an ID can be, field by field, and what it gives away. */
@Command(
    name = "inspect",
    description = "Says what IDs from anywhere can be, and what they give away.")
final class InspectVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Spec private CommandSpec spec;

  @Parameters(arity = "1..*", paramLabel = "ID", description = "IDs of any format.")
  private List<String> ids = List.of();

  /** 0 if every text can be an ID of some format. */
  @Override
  public Integer call() throws CommandFailed {
    int status = 0;
    for (String id : ids) {
      JsonNode inspection = gateway.get("/v1/inspect/" + GatewayCalls.segment(id));
      print(inspection);
      if (inspection.path("candidates").isEmpty()) {
        status = 1;
      }
    }
    return status;
  }

  private void print(JsonNode inspection) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(inspection.path("input").asString());
    for (JsonNode candidate : inspection.path("candidates")) {
      out.printf(
          "  %-20s %-9s %s%n",
          candidate.path("format").asString(),
          candidate.path("certainty").asString(),
          candidate.path("time").asString(""));
      if (candidate.has("type")) {
        line("type", candidate.path("type").asString());
      }
      candidate
          .path("fields")
          .properties()
          .forEach(field -> line(field.getKey(), field.getValue().asString()));
      line("sorts by time", candidate.path("sortable").asBoolean() ? "yes" : "no");
      line("gives away", joined(candidate.path("reveals")));
    }
    for (JsonNode refusal : inspection.path("refused")) {
      out.printf(
          "  no %s: %s%n", refusal.path("format").asString(), refusal.path("detail").asString());
    }
    if (inspection.path("candidates").isEmpty() && inspection.path("refused").isEmpty()) {
      out.println("  nothing that is known");
    }
  }

  private void line(String name, String value) {
    spec.commandLine().getOut().printf("    %-18s %s%n", name.replace('_', ' '), value);
  }

  private static String joined(JsonNode names) {
    String all =
        names
            .valueStream()
            .map(name -> name.asString().replace('_', ' '))
            .collect(Collectors.joining(", "));
    return all.isEmpty() ? "nothing" : all;
  }
}
