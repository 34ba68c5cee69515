package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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
      description =
          "Creates or replaces a type; options that are left out go back to their defaults.")
  int put(
      @Mixin GatewayCalls gateway,
      @Mixin RedirectFlags redirect,
      @Mixin PolicyFlags policies,
      @Parameters(paramLabel = "NAME", description = "Name of the type.") String name,
      @Option(names = "--prefix", required = true, description = "Prefix of its public IDs.")
          String prefix,
      @Option(
              names = "--key",
              defaultValue = "bigint",
              description = "The column of its keys: bigint or uuid. Default: ${DEFAULT-VALUE}.")
          String key,
      @Option(
              names = "--generate",
              paramLabel = "HOW",
              description =
                  "Keys of mints that bring none: snowflake, segment, uuidv7, or none if each mint"
                      + " brings its key. Default: snowflake, and uuidv7 for uuid keys.")
          @Nullable String generate,
      @Option(names = "--layout", description = "Layout of the Snowflakes. Default: default.")
          @Nullable String layout,
      @Option(names = "--tag", description = "Tag of the segment.") @Nullable String tag)
      throws CommandFailed {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("prefix", prefix);
    body.put("key", key);
    if (generate != null) {
      body.put("generate", generate);
    }
    body.put("layout", layout);
    body.put("tag", tag);
    redirect.body().ifPresent(fields -> body.put("redirect", fields));
    policies.addTo(body);
    print(gateway.put("/v1/types/" + GatewayCalls.segment(name), body));
    if (body.containsKey("legacy")
        && !body.containsKey("redirect")
        && !policies.hasUrlTemplates()) {
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

  /** What the API calls {@code redirect}, field by field. */
  @Command
  static final class RedirectFlags {
    @Option(
        names = "--redirect",
        paramLabel = "TEMPLATE",
        description = "Target of /r/{id}, for instance https://shop.example/charges/{id}.")
    private @Nullable String template;

    @Option(
        names = "--redirect-status",
        paramLabel = "STATUS",
        defaultValue = "302",
        description = "301, 302, 307 or 308. Default: ${DEFAULT-VALUE}.")
    private int status;

    @Option(
        names = "--redirect-max-age-seconds",
        paramLabel = "SECONDS",
        defaultValue = "0",
        description = "How long the redirect may be cached. Default: ${DEFAULT-VALUE}.")
    private int maxAgeSeconds;

    @Option(names = "--redirect-private", description = "Answer 404 to the public.")
    private boolean isPrivate;

    @Option(names = "--expose-key", description = "Allow {key} in the template.")
    private boolean exposeKey;

    Optional<Map<String, Object>> body() {
      return Optional.ofNullable(template)
          .map(
              text ->
                  Map.of(
                      "template", text,
                      "status", status,
                      "max_age_seconds", maxAgeSeconds,
                      "public", !isPrivate,
                      "expose_key", exposeKey));
    }
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
