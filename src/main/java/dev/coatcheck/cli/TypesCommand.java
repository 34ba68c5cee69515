package dev.coatcheck.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck types}: the registry, through the API. */
@Command(
    name = "types",
    description = "Lists and defines types.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class TypesCommand {
  @Spec private CommandSpec spec;

  @Command(name = "list", description = "Lists the types.")
  int list(@Mixin GatewayCalls gateway) throws CommandFailed {
    for (JsonNode type : gateway.get("/v1/types").path("data")) {
      print(type);
    }
    return 0;
  }

  @Command(name = "put", description = "Defines a type, or changes its redirect.")
  int put(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "NAME", description = "Name of the type.") String name,
      @Option(names = "--prefix", required = true, description = "Start of its public IDs.")
          String prefix,
      @Option(
              names = "--key-scheme",
              defaultValue = "snowflake",
              description = "snowflake or uuidv7. Default: ${DEFAULT-VALUE}.")
          String keyScheme,
      @Option(names = "--redirect", description = "Template of its redirect, with {id}.")
          String redirect)
      throws CommandFailed {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("prefix", prefix);
    body.put("key_scheme", keyScheme);
    if (redirect != null) {
      body.put("redirect", Map.of("template", redirect));
    }
    print(gateway.put("/v1/types/" + name, body));
    return 0;
  }

  private void print(JsonNode type) {
    spec.commandLine()
        .getOut()
        .println(
            String.join(
                ",",
                type.path("name").asString(),
                type.path("prefix").asString(),
                type.path("key_scheme").asString(),
                type.path("redirect").path("template").asString("")));
    spec.commandLine().getOut().flush();
  }
}
