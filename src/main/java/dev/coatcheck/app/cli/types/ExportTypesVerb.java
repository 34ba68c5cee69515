package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.OutputFile;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck types export}. */
@Command(
    name = "export",
    description = {
      "Prints all types as a file for types plan and types apply.",
      "The salt of a public_rule is not in it: the file names a variable that has to hold the salt."
    },
    footer = "  coatcheck types export --output types.yaml")
public final class ExportTypesVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();
  @Mixin private OutputFile target = new OutputFile();

  @Override
  public Integer call() throws CommandFailed {
    Map<String, Map<String, @Nullable Object>> types = new LinkedHashMap<>();
    for (JsonNode type : gateway.get("/v1/types").path("data")) {
      String name = type.path("name").asString();
      types.put(name, ExportedType.of(name, type));
      if (!type.at("/public_rule/salt").asString("").isEmpty()) {
        output.note(
            "The file refers to the salt of %s: set %s for types plan, or name another place."
                .formatted(name, SaltReference.variable(name)));
      }
    }
    Map<String, Object> whole = Map.of("types", types);
    if (target.path().isEmpty()) {
      output.print(whole, out -> out.print(YamlText.of(whole)));
    } else {
      String text = output.isJson() ? Output.object(whole) + "\n" : YamlText.of(whole);
      TextFile.write(target.path().get(), text);
    }
    return 0;
  }
}
