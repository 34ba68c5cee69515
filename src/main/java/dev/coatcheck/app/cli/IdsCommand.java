package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.ClientImport;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck ids}: the commands for existing public IDs. */
@Command(
    name = "ids",
    description = "Imports, exports and ends public IDs.",
    subcommands = ExportVerb.class)
final class IdsCommand {
  @Spec private CommandSpec spec;

  @Command(
      name = "import",
      description = {
        "Imports a file with the columns type, key, legacy_id, created_at, public_id.",
        "After an interruption, the same command continues. Refused rows are written to a file"
            + " beside FILE."
      })
  int importFile(@Mixin GatewayCalls gateway, @Mixin ClientImport upload) throws CommandFailed {
    return upload.send(gateway, "/v1/imports");
  }

  @Command(
      name = "revoke",
      description = "Revokes a public ID for good: it answers 410 and is never issued again.")
  int revoke(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = "The public ID.") String id,
      @Option(names = "--reason", description = "Reason, shown to callers with an API key.")
          @Nullable String reason)
      throws CommandFailed {
    Map<String, String> body = reason == null ? Map.of() : Map.of("reason", reason);
    JsonNode ended = gateway.post("/v1/ids/" + GatewayCalls.segment(id) + "/revoke", body);
    print("revoked " + id + " at " + ended.path("ended_at").asString());
    return 0;
  }

  @Command(
      name = "merge",
      description = "Merges a public ID into a survivor: from now on it resolves to the survivor.")
  int merge(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "ID", description = "Public ID that ends.") String id,
      @Option(
              names = "--into",
              paramLabel = "ID",
              required = true,
              description = "Public ID that survives, of the same type.")
          String into)
      throws CommandFailed {
    JsonNode ended =
        gateway.post("/v1/ids/" + GatewayCalls.segment(id) + "/merge", Map.of("into", into));
    print("merged " + id + " into " + ended.path("merged_into").asString());
    return 0;
  }

  private void print(String text) {
    spec.commandLine().getOut().println(text);
  }
}
