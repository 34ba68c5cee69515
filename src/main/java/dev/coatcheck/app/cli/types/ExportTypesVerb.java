package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck types export}. */
@Command(
    name = "export",
    description = {
      "Prints all types as a file for types plan and types apply.",
      "The salt of a public_rule is not in it: the file names a variable that has to hold the salt."
    },
    footer = "  coatcheck types export > types.yaml")
public final class ExportTypesVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws CommandFailed {
    Map<String, Map<String, @Nullable Object>> types = new LinkedHashMap<>();
    for (JsonNode type : gateway.get("/v1/types").path("data")) {
      String name = type.path("name").asString();
      types.put(name, ExportedType.of(name, type));
      if (!type.at("/public_rule/salt").asString("").isEmpty()) {
        spec.commandLine()
            .getErr()
            .println(
                "The file refers to the salt of "
                    + name
                    + ": set "
                    + SaltReference.variable(name)
                    + " for types plan, or name another place.");
      }
    }
    spec.commandLine().getOut().print(YamlText.of(Map.of("types", types)));
    spec.commandLine().getOut().flush();
    return 0;
  }
}
