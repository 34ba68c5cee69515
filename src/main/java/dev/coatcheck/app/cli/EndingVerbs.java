package dev.coatcheck.app.cli;

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
      description = "Ends a public ID for good: 410 everywhere, and never issued again.",
      mixinStandardHelpOptions = true)
  static final class Revoke implements Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "ID", description = "The public ID.")
    private String id;

    @Option(names = "--reason", description = "For those who ask with an API key.")
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
      description = "Lets a public ID stand for another one from now on.",
      mixinStandardHelpOptions = true)
  static final class Merge implements Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "ID", description = "The public ID that ends.")
    private String id;

    @Option(
        names = "--into",
        paramLabel = "ID",
        required = true,
        description = "The one that survives, of the same type.")
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
