package dev.coatcheck.app.cli;

import static java.util.stream.Collectors.joining;

import dev.coatcheck.app.client.ClientImport;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck ids}: the commands for existing public IDs. */
@Command(
    name = "ids",
    addMethodSubcommands = false,
    description = "Imports, exports and ends public IDs, and lists their aliases.",
    subcommands = ExportVerb.class)
final class IdsCommand {

  @Command(
      name = "import",
      description = {
        "Imports a file with the columns type, key, legacy_id, created_at, public_id.",
        "After an interruption, the same command continues, but not with standard input, which has"
            + " to be sent again. Refused rows are written to a file beside FILE."
      },
      footer = "  coatcheck ids import orders.csv")
  int importFile(@Mixin GatewayCalls gateway, @Mixin Output output, @Mixin ClientImport upload)
      throws CommandFailed {
    return upload.send(gateway, output, "/v1/imports");
  }

  @Command(
      name = "aliases",
      description =
          "Lists the aliases of a public ID: legacy IDs, client IDs, public IDs of an older"
              + " system.",
      footer = "  coatcheck ids aliases ch_4KIWSf8WvPNoQDBwStVIDYHU")
  void aliases(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "ID", description = "The public ID.") String id)
      throws CommandFailed {
    JsonNode aliases = gateway.get(path(id, "/aliases"));
    output.rows(aliases.path("data"), "scheme", "value", "client_namespace", "client_principal");
    if (aliases.path("has_more").asBoolean(false)) {
      output.note("The public ID has more aliases than these.");
    }
  }

  @Command(
      name = "revoke",
      description = "Revokes a public ID for good: it answers 410 and is never issued again.",
      footer = "  coatcheck ids revoke ch_4KIWSf8WvPNoQDBwStVIDYHU --reason leaked")
  void revoke(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "ID", description = "The public ID.") String id,
      @Option(
              names = "--reason",
              paramLabel = "TEXT",
              description = "Reason, shown to callers with an API key.")
          @Nullable String reason)
      throws CommandFailed {
    Map<String, String> body = reason == null ? Map.of() : Map.of("reason", reason);
    JsonNode ended = gateway.post(path(id, "/revoke"), body);
    output.print(ended, "revoked " + id + " at " + ended.path("ended_at").asString());
  }

  @Command(
      name = "erase",
      description = {
        "Forgets the key and the aliases of a public ID for good: it answers 410 and is never"
            + " issued again.",
        "Again, it says when nothing is left, and which sources of table migrations are waited for."
      },
      footer = "  coatcheck ids erase ch_4KIWSf8WvPNoQDBwStVIDYHU")
  void erase(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "ID", description = "The public ID.") String id,
      @Option(
              names = "--cascade",
              description = "Erase the public IDs that were merged into it, too.")
          boolean cascade)
      throws CommandFailed {
    String path = path(id, "/erase");
    JsonNode erasure = gateway.post(cascade ? path + "?cascade=true" : path);
    String open =
        erasure.path("waits_for").valueStream().map(JsonNode::asString).collect(joining(", "));
    output.print(
        erasure,
        "erased "
            + id
            + " at "
            + erasure.path("erased_at").asString()
            + (open.isEmpty()
                ? "; nothing is left at " + erasure.path("complete_at").asString()
                : "; waits for " + open));
  }

  @Command(
      name = "merge",
      description = "Merges a public ID into a survivor: from now on it resolves to the survivor.",
      footer = {
        "  coatcheck ids merge ch_4KIWSf8WvPNoQDBwStVIDYHU \\",
        "      --into ch_2wbCRIWJxGRzqNDIxGhnuFbN"
      })
  void merge(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "ID", description = "Public ID that ends.") String id,
      @Option(
              names = "--into",
              paramLabel = "ID",
              required = true,
              description = "Public ID that survives, of the same type.")
          String into)
      throws CommandFailed {
    JsonNode ended = gateway.post(path(id, "/merge"), Map.of("into", into));
    output.print(ended, "merged " + id + " into " + ended.path("merged_into").asString());
  }

  private static String path(String id, String action) {
    return "/v1/ids/" + GatewayCalls.segment(id) + action;
  }
}
