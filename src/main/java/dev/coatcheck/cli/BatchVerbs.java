package dev.coatcheck.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/**
 * {@code coatcheck mint}, {@code resolve} and {@code lookup}: take their input as arguments, or one
 * a line from standard input, a thousand a call, and print {@code id,type,key}.
 */
final class BatchVerbs {
  private static final int ITEMS_MAX = 1_000;

  private BatchVerbs() {}

  /** Sends the inputs in stretches and prints each outcome; 1 if any was refused. */
  private static int run(CommandSpec spec, List<String> inputs, Function<List<String>, Call> call)
      throws Exception {
    int refused = 0;
    try (Lines lines = new Lines(inputs)) {
      for (List<String> some = lines.next(); !some.isEmpty(); some = lines.next()) {
        Call next = call.apply(some);
        refused += print(spec, some, next.gateway().post(next.path(), next.body()));
      }
    }
    if (refused > 0) {
      spec.commandLine().getErr().println("coatcheck: " + refused + " were refused.");
    }
    return refused == 0 ? 0 : 1;
  }

  private record Call(GatewayCalls gateway, String path, Object body) {}

  private static int print(CommandSpec spec, List<String> inputs, JsonNode answer) {
    PrintWriter out = spec.commandLine().getOut();
    int refused = 0;
    for (JsonNode item : answer.path("data")) {
      JsonNode id = item.path("public_id");
      if (id.isObject()) {
        out.println(
            id.path("id").asString()
                + ","
                + id.path("type").asString()
                + ","
                + id.path("key").asString());
      } else {
        refused++;
        int index = item.path("index").asInt();
        JsonNode error = item.path("error");
        spec.commandLine()
            .getErr()
            .println(
                (index < inputs.size() ? inputs.get(index) : "#" + index)
                    + ": "
                    + error.path("code").asString()
                    + ". "
                    + error.path("detail").asString());
      }
    }
    out.flush();
    return refused;
  }

  /** Arguments, or lines of standard input if there are none or they are a dash. */
  private static final class Lines implements AutoCloseable {
    private final List<String> arguments;
    private final BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private final boolean reads;
    private int taken;

    Lines(List<String> arguments) {
      this.arguments = arguments;
      this.reads = arguments.isEmpty() || arguments.equals(List.of("-"));
    }

    List<String> next() throws IOException {
      List<String> some = new ArrayList<>();
      for (String line = read(); line != null; line = some.size() < ITEMS_MAX ? read() : null) {
        if (!line.isBlank()) {
          some.add(line.strip());
        }
      }
      return some;
    }

    private @org.jspecify.annotations.Nullable String read() throws IOException {
      if (reads) {
        return input.readLine();
      }
      return taken < arguments.size() ? arguments.get(taken++) : null;
    }

    @Override
    public void close() throws IOException {
      input.close();
    }
  }

  /** {@code coatcheck mint TYPE [KEY…]}. */
  @Command(
      name = "mint",
      description = "Mints public IDs for keys, or with --count for generated keys.",
      mixinStandardHelpOptions = true)
  static final class Mint implements java.util.concurrent.Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "TYPE", description = "Name of the type.")
    private String type;

    @Parameters(index = "1..*", paramLabel = "KEY", description = "Keys; none or - to read lines.")
    private List<String> keys = List.of();

    @Option(names = "--count", description = "Generate this many keys instead, 1 to 1000.")
    private int count;

    @Override
    public Integer call() throws Exception {
      if (count > 0) {
        return print(
                    spec,
                    List.of(),
                    gateway.post("/v1/ids/batch", Map.of("type", type, "count", count)))
                == 0
            ? 0
            : 1;
      }
      return run(
          spec,
          keys,
          some ->
              new Call(
                  gateway,
                  "/v1/ids/batch",
                  Map.of(
                      "items",
                      some.stream().map(key -> Map.of("type", type, "key", key)).toList())));
    }
  }

  /** {@code coatcheck resolve [ID…]}. */
  @Command(
      name = "resolve",
      description = "Resolves public IDs to their keys.",
      mixinStandardHelpOptions = true)
  static final class Resolve implements java.util.concurrent.Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "ID", description = "Public IDs; none or - to read lines.")
    private List<String> ids = List.of();

    @Override
    public Integer call() throws Exception {
      return run(spec, ids, some -> new Call(gateway, "/v1/ids/resolve", Map.of("ids", some)));
    }
  }

  /** {@code coatcheck lookup TYPE [KEY…]}. */
  @Command(
      name = "lookup",
      description = "Looks up the public IDs of keys.",
      mixinStandardHelpOptions = true)
  static final class Lookup implements java.util.concurrent.Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "TYPE", description = "Name of the type.")
    private String type;

    @Parameters(index = "1..*", paramLabel = "KEY", description = "Keys; none or - to read lines.")
    private List<String> keys = List.of();

    @Override
    public Integer call() throws Exception {
      return run(
          spec,
          keys,
          some -> new Call(gateway, "/v1/ids/lookup", Map.of("type", type, "keys", some)));
    }
  }
}
