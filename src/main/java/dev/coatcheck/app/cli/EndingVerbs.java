package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck ids revoke} and {@code ids merge}: end a public ID for good. */
final class EndingVerbs {
  private EndingVerbs() {}

  /** {@code coatcheck ids revoke ID}. */
  @Command(
      name = "revoke",
      description = "Revokes a public ID for good: it answers 410 and is never issued again.",
      mixinStandardHelpOptions = true)
  static final class Revoke implements Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "ID", description = "The public ID.")
    private String id;

    @Option(names = "--reason", description = "Reason, shown to callers with an API key.")
    private @Nullable String reason;

    @Override
    public Integer call() throws CommandFailed {
      JsonNode ended =
          gateway.post(
              "/v1/ids/" + GatewayCalls.segment(id) + "/revoke",
              reason == null ? Map.of() : Map.of("reason", reason));
      spec.commandLine()
          .getOut()
          .println("revoked " + id + " at " + ended.path("ended_at").asString());
      return 0;
    }
  }

  /** {@code coatcheck ids merge ID --into ID}. */
  @Command(
      name = "merge",
      description = "Merges a public ID into a survivor: from now on it resolves to the survivor.",
      mixinStandardHelpOptions = true)
  static final class Merge implements Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "ID", description = "Public ID that ends.")
    private String id;

    @Option(
        names = "--into",
        paramLabel = "ID",
        required = true,
        description = "Public ID that survives, of the same type.")
    private String into;

    @Override
    public Integer call() throws CommandFailed {
      JsonNode ended =
          gateway.post("/v1/ids/" + GatewayCalls.segment(id) + "/merge", Map.of("into", into));
      spec.commandLine()
          .getOut()
          .println("merged " + id + " into " + ended.path("merged_into").asString());
      return 0;
    }
  }
}
