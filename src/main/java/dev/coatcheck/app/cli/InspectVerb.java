package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.scheme.SnoId;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck inspect}: what an ID can be, field by field, and what it reveals. */
@Command(
    name = "inspect",
    description = "Says what IDs from anywhere can be, and what they give away.",
    footer = "  coatcheck inspect 01ARZ3NDEKTSV4RRFFQ69G5FAV")
final class InspectVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();
  @Spec private CommandSpec spec;

  @Parameters(arity = "1..*", paramLabel = "ID", description = "IDs of any format.")
  private List<String> ids = List.of();

  @Option(
      names = "--set",
      split = ",",
      paramLabel = "FIELD=NUMBER",
      description =
          "Print the snos with another metabyte or partition instead, such as"
              + " metabyte=7,partition=12. Needs no gateway.")
  private Map<String, Integer> changes = new LinkedHashMap<>();

  /** Returns 0 if every text can be an ID of some format. */
  @Override
  public Integer call() throws CommandFailed {
    if (!changes.isEmpty()) {
      return change();
    }
    int status = 0;
    for (String id : ids) {
      JsonNode inspection = gateway.get("/v1/inspect/" + GatewayCalls.segment(id));
      output.print(inspection, out -> print(inspection, out));
      if (inspection.path("candidates").isEmpty()) {
        status = 1;
      }
    }
    return status;
  }

  private int change() throws CommandFailed {
    List<JsonNode> snos = new ArrayList<>();
    for (String id : ids) {
      SnoId sno =
          SnoId.parse(id)
              .orElseThrow(() -> new CommandFailed(id + " is no sno; --set is for snos."));
      snos.add(Output.object(Map.of("key", changed(sno).toString())));
    }
    output.rows(snos, "key");
    return 0;
  }

  private SnoId changed(SnoId id) {
    SnoId changed = id;
    for (var change : changes.entrySet()) {
      try {
        changed =
            switch (change.getKey()) {
              case "metabyte" -> changed.withMetabyte(change.getValue());
              case "partition" -> changed.withPartition(change.getValue());
              default -> throw new IllegalArgumentException("snos have no such field");
            };
      } catch (IllegalArgumentException refused) {
        throw new ParameterException(
            spec.commandLine(),
            "--set takes metabyte=0 to 255 and partition=0 to 65535, not %s=%d."
                .formatted(change.getKey(), change.getValue()));
      }
    }
    return changed;
  }

  private static void print(JsonNode inspection, PrintWriter out) {
    out.println(inspection.path("input").asString());
    for (JsonNode candidate : inspection.path("candidates")) {
      out.printf(
          "  %-20s %-9s %s%n",
          candidate.path("format").asString(),
          candidate.path("certainty").asString(),
          candidate.path("time").asString(""));
      if (candidate.has("type")) {
        line(out, "type", candidate.path("type").asString());
      }
      candidate
          .path("fields")
          .properties()
          .forEach(field -> line(out, field.getKey(), field.getValue().asString()));
      line(out, "sorts by time", candidate.path("sortable").asBoolean() ? "yes" : "no");
      line(out, "gives away", joined(candidate.path("reveals")));
    }
    for (JsonNode refusal : inspection.path("refused")) {
      out.printf(
          "  no %s: %s%n", refusal.path("format").asString(), refusal.path("detail").asString());
    }
    if (inspection.path("candidates").isEmpty() && inspection.path("refused").isEmpty()) {
      out.println("  nothing that is known");
    }
  }

  private static void line(PrintWriter out, String name, String value) {
    out.printf("    %-18s %s%n", name.replace('_', ' '), value);
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
