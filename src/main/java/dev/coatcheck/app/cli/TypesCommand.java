package dev.coatcheck.app.cli;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.app.cli.types.ApplyVerb;
import dev.coatcheck.app.cli.types.ExportTypesVerb;
import dev.coatcheck.app.cli.types.GenerateCommand;
import dev.coatcheck.app.cli.types.PlanVerb;
import dev.coatcheck.app.cli.types.TypeDiff;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.ExitCode;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code coatcheck types}: the registry, through the API. */
@Command(
    name = "types",
    addMethodSubcommands = false,
    description = "Lists, shows, compares and defines types.",
    subcommands = {
      PlanVerb.class,
      ApplyVerb.class,
      ExportTypesVerb.class,
      GenerateCommand.class,
      SealKeyCommand.class
    })
final class TypesCommand {
  private static final String NAME = "Name of the type.";
  private static final String FILE =
      "JSON file with the type, as get --json prints it, or - for standard input; in the place of"
          + " the flags of the type.";
  private static final String CONFIRM =
      "Make the change also if it ends links that have a target today.";

  private static final String[] COLUMNS = {
    "name", "prefix", "key", "generate", "redirect=/redirect/template", "url_templates"
  };

  private static final JsonMapper JSON = new JsonMapper();

  @Spec private CommandSpec spec;

  @Command(name = "list", description = "Lists the types.", footer = "  coatcheck types list")
  void list(@Mixin GatewayCalls gateway, @Mixin Output output) throws CommandFailed {
    output.rows(gateway.get("/v1/types").path("data"), COLUMNS);
  }

  @Command(
      name = "get",
      description = "Prints the fields of a type that have a value.",
      footer = "  coatcheck types get charge")
  void get(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name)
      throws CommandFailed {
    output.fields(gateway.get(path(name)));
  }

  @Command(
      name = "put",
      modelTransformer = TypeFlags.class,
      description =
          "Creates or replaces a type; options that are left out go back to their defaults.",
      footer = {
        "  coatcheck types put charge --prefix ch \\",
        "      --redirect https://shop.example/charges/{id}"
      })
  void put(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(names = "--file", paramLabel = "FILE", description = FILE) @Nullable Path file,
      @Option(names = "--confirm-links", description = CONFIRM) boolean confirmLinks)
      throws CommandFailed {
    print(output, gateway.put(path(name) + confirmed(confirmLinks), wanted("put", file)));
  }

  @Command(
      name = "set",
      modelTransformer = TypeFlags.class,
      description = "Changes only the named fields of a type.",
      footer = "  coatcheck types set charge --redirect-max-age-seconds 60")
  void set(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(names = "--confirm-links", description = CONFIRM) boolean confirmLinks)
      throws CommandFailed {
    print(
        output,
        gateway.patch(path(name) + confirmed(confirmLinks), TypeFlags.changes(parsed("set"))));
  }

  @Command(
      name = "diff",
      modelTransformer = TypeFlags.class,
      description = {
        "Prints what a put with the same flags or file would change, and changes nothing.",
        "Exits with 1 if there is a difference."
      },
      footer = "  coatcheck types diff charge --prefix ch --redirect https://pay.example/{id}")
  int diff(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(names = "--file", paramLabel = "FILE", description = FILE) @Nullable Path file)
      throws CommandFailed {
    JsonNode body = wanted("diff", file);
    var reply = gateway.ask(path(name));
    if (!reply.isSuccess() && !reply.body().path("code").asString("").equals("type_unknown")) {
      throw reply.failure();
    }
    TypeDiff diff =
        TypeDiff.of(name, reply.isSuccess() ? Optional.of(reply.body()) : Optional.empty(), body);
    diff.print(output);
    return (diff.isEmpty() ? ExitCode.DONE : ExitCode.FAILED).status();
  }

  @Command(
      name = "era",
      description = {
        "Begins an era of a sealed type: later keys are sealed with another seal key.",
        "Bring the key to every instance first."
      },
      footer = "  coatcheck types era message --seal-key 8d0c5a7e2f9b4613")
  void era(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(
              names = "--seal-key",
              paramLabel = "FINGERPRINT",
              required = true,
              description = "Seal key of the era, as seal-key list prints it.")
          String sealKey,
      @Option(
              names = "--starts-at",
              paramLabel = "TIME",
              description =
                  "Time of its first key, at least 25 hours ahead. Default: 25 hours ahead.")
          @Nullable String startsAt)
      throws CommandFailed {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("seal_key", sealKey);
    body.put("starts_at", startsAt);
    output.rows(
        gateway.post(path(name) + "/eras", Output.object(body)).path("eras"),
        "starts_at",
        "seal_key");
  }

  @Command(
      name = "pin",
      description = {
        "After the leak of a seal key: writes rows for the keys in a file, which are all that were"
            + " minted in its era.",
        "With --close only those resolve from then on. Exits with 1 if some keys have another"
            + " public ID."
      },
      footer = "  coatcheck types pin message --era 3fb2c09d11e86a47 --file keys.txt")
  int pin(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(
              names = "--era",
              paramLabel = "FINGERPRINT",
              required = true,
              description = "Era of the leaked seal key, by its fingerprint.")
          String sealKey,
      @Option(
              names = "--file",
              paramLabel = "FILE",
              description = "File with a key on each line, or - for standard input.")
          @Nullable Path file,
      @Option(
              names = "--close",
              description = "Then close the era, for good: its seal key opens nothing any more.")
          boolean closes)
      throws CommandFailed {
    if (file == null && !closes) {
      throw new Misused("name a file of keys with --file, or add --close.");
    }
    return new PinCalls(gateway, path(name) + "/pin", sealKey).run(file, closes, output);
  }

  @Command(
      name = "legacy-hits",
      description = "Prints how often legacy IDs of a type were found: day,count.",
      footer = "  coatcheck types legacy-hits charge --from 2026-01-01 --to 2026-12-31")
  void legacyHits(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(names = "--from", paramLabel = "DAY", description = "First day, in UTC.")
          @Nullable String from,
      @Option(names = "--to", paramLabel = "DAY", description = "Last day. Default: today.")
          @Nullable String to)
      throws CommandFailed {
    String path = GatewayCalls.path(path(name) + "/legacy-hits", "from", from, "to", to);
    output.rows(gateway.get(path).path("data"), "day", "count");
  }

  @Command(
      name = "legacy-callers",
      description =
          "Prints who looked up legacy IDs of a type and found something:"
              + " kind,caller,count,share,error.",
      footer = "  coatcheck types legacy-callers charge --kind user_agent --limit 10")
  void legacyCallers(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(names = "--from", paramLabel = "DAY", description = "First day, in UTC.")
          @Nullable String from,
      @Option(names = "--to", paramLabel = "DAY", description = "Last day. Default: today.")
          @Nullable String to,
      @Option(
              names = "--kind",
              paramLabel = "KIND",
              description =
                  "Only api_key, user_agent, referring_host or address_range. Default: all.")
          @Nullable String kind,
      @Option(
              names = "--limit",
              paramLabel = "COUNT",
              description = "Callers of each kind, up to 100. Default: 100.")
          @Nullable String limit)
      throws CommandFailed {
    List<JsonNode> rows = new ArrayList<>();
    String path =
        GatewayCalls.path(
            path(name) + "/legacy-callers", "from", from, "to", to, "kind", kind, "limit", limit);
    for (JsonNode each : gateway.get(path).path("data")) {
      for (JsonNode caller : each.path("callers")) {
        Map<String, JsonNode> row = new LinkedHashMap<>();
        row.put("kind", each.path("kind"));
        caller.properties().forEach(field -> row.put(field.getKey(), field.getValue()));
        rows.add(Output.object(row));
      }
    }
    output.rows(rows, "kind", "caller", "count", "share", "error");
  }

  private static String path(String name) {
    return "/v1/types/" + GatewayCalls.segment(name);
  }

  private static String confirmed(boolean confirmLinks) {
    return confirmLinks ? "?confirm=links" : "";
  }

  /** The body of a put, from the flags of the verb or from a file. */
  private JsonNode wanted(String verb, @Nullable Path file) throws CommandFailed {
    ParseResult flags = parsed(verb);
    if (file == null) {
      return Output.object(TypeFlags.whole(flags));
    }
    if (TypeFlags.isAnyIn(flags)) {
      throw new ParameterException(
          flags.commandSpec().commandLine(), "Give --file or the flags of a type, not both.");
    }
    try {
      if (JSON.readTree(InputFile.textOrStandardInput(file)) instanceof ObjectNode type) {
        type.remove(TypeDiff.OF_THE_GATEWAY);
        return type;
      }
    } catch (IOException unreadable) {
      throw new Misused("can't read a type from " + file + ": " + FileWords.why(unreadable));
    } catch (JacksonException malformed) {
      throw new Misused(
          "%s is not JSON: line %d, column %d."
              .formatted(
                  file,
                  malformed.getLocation().getLineNr(),
                  malformed.getLocation().getColumnNr()));
    }
    throw new Misused("the file " + file + " holds no JSON object.");
  }

  private ParseResult parsed(String verb) {
    return requireNonNull(spec.commandLine().getSubcommands().get(verb)).getParseResult();
  }

  private void print(Output output, JsonNode type) throws CommandFailed {
    output.rows(List.of(type), COLUMNS);
    if (type.path("legacy").isObject()
        && type.path("redirect").isNull()
        && type.path("url_templates").isEmpty()) {
      output.note(
          "Legacy IDs of %s have no target yet: the type has no redirect. Add --redirect."
              .formatted(type.path("name").asString()));
    }
  }
}
