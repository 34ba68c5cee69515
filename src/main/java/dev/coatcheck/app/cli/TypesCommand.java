package dev.coatcheck.app.cli;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck types}: the registry, through the API. */
@Command(name = "types", description = "Lists and defines types.")
final class TypesCommand {
  @Spec private CommandSpec spec;

  @Command(name = "list", description = "Lists the types.")
  int list(@Mixin GatewayCalls gateway) throws CommandFailed {
    for (JsonNode type : gateway.get("/v1/types").path("data")) {
      print(type);
    }
    return 0;
  }

  @Command(
      name = "put",
      modelTransformer = TypeFlags.class,
      description =
          "Creates or replaces a type; options that are left out go back to their defaults.")
  int put(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "NAME", description = "Name of the type.") String name)
      throws CommandFailed {
    CommandLine put = requireNonNull(spec.commandLine().getSubcommands().get("put"));
    Map<String, Object> body = TypeFlags.body(put.getParseResult());
    print(gateway.put("/v1/types/" + GatewayCalls.segment(name), body));
    if (body.containsKey("legacy")
        && !body.containsKey("redirect")
        && !body.containsKey("url_templates")) {
      spec.commandLine()
          .getErr()
          .println(
              "Legacy IDs of "
                  + name
                  + " have no target yet: the type has no redirect. Add --redirect.");
    }
    return 0;
  }

  @Command(
      name = "legacy-hits",
      description = "Prints how often legacy IDs of a type were found: day,count.")
  int legacyHits(
      @Mixin GatewayCalls gateway,
      @Parameters(paramLabel = "NAME", description = "Name of the type.") String name,
      @Option(names = "--from", paramLabel = "DAY", description = "First day, in UTC.")
          @Nullable String from,
      @Option(names = "--to", paramLabel = "DAY", description = "Last day. Default: today.")
          @Nullable String to)
      throws CommandFailed {
    String query =
        Stream.of(parameter("from", from), parameter("to", to))
            .flatMap(Optional::stream)
            .collect(Collectors.joining("&"));
    String path = "/v1/types/" + GatewayCalls.segment(name) + "/legacy-hits";
    JsonNode days = gateway.get(query.isEmpty() ? path : path + "?" + query).path("data");
    for (JsonNode day : days) {
      spec.commandLine()
          .getOut()
          .println(day.path("day").asString() + "," + day.path("count").asLong());
    }
    return 0;
  }

  private static Optional<String> parameter(String name, @Nullable String value) {
    return Optional.ofNullable(value).map(text -> name + "=" + GatewayCalls.segment(text));
  }

  /** One line; the URL templates come last, if there are any. */
  private void print(JsonNode type) {
    List<String> columns =
        new ArrayList<>(
            List.of(
                type.path("name").asString(),
                type.path("prefix").asString(),
                type.path("key").asString(),
                type.path("generate").asString(),
                type.path("redirect").path("template").asString("")));
    for (JsonNode template : type.path("url_templates")) {
      columns.add(template.asString());
    }
    spec.commandLine().getOut().println(String.join(",", columns));
  }
}
