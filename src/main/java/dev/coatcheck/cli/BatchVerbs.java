package dev.coatcheck.cli;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/**
 * {@code coatcheck mint}, {@code resolve} and {@code lookup}: take their input as arguments, or one
 * a line from standard input, a thousand a call, and print {@code id,type,key}. What is refused
 * goes to standard error and makes the exit status 1; the rest is done all the same.
 */
final class BatchVerbs {
  private static final int ITEMS_MAX = 1_000;
  private static final int COUNT_MAX = 1_000_000;

  private BatchVerbs() {}

  /** One verb's calls. Counts what was answered, so that a failure can say how far it came. */
  private static final class Calls {
    private final CommandSpec command;
    private final GatewayCalls gateway;
    private final String path;
    private int answered;
    private int refused;

    Calls(CommandSpec command, GatewayCalls gateway, String path) {
      this.command = command;
      this.gateway = gateway;
      this.path = path;
    }

    /** Sends the inputs, a thousand a call. */
    int sendAll(List<String> arguments, Function<List<String>, Object> body) throws CommandFailed {
      boolean fromInput = arguments.isEmpty() || arguments.equals(List.of("-"));
      // Standard input stays open: it is not ours.
      BufferedReader input =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      Iterator<String> lines = (fromInput ? input.lines() : arguments.stream()).iterator();
      try {
        for (List<String> some = next(lines); !some.isEmpty(); some = next(lines)) {
          send(body.apply(some), some);
        }
      } catch (UncheckedIOException broken) {
        throw new CommandFailed("can't read standard input: " + broken.getMessage());
      }
      return status();
    }

    void send(Object body, List<String> inputs) throws CommandFailed {
      try {
        JsonNode answer = gateway.post(path, body);
        print(inputs, answer.path("data"));
      } catch (CommandFailed failed) {
        throw answered == 0
            ? failed
            : new CommandFailed(
                failed.getMessage() + " Before that, " + answered + " were answered.");
      }
    }

    int status() {
      if (refused > 0) {
        command
            .commandLine()
            .getErr()
            .println("coatcheck: " + refused + " of " + answered + " refused.");
      }
      return refused == 0 ? 0 : 1;
    }

    private static List<String> next(Iterator<String> lines) {
      List<String> some = new ArrayList<>();
      while (some.size() < ITEMS_MAX && lines.hasNext()) {
        String line = lines.next().strip();
        if (!line.isEmpty()) {
          some.add(line);
        }
      }
      return some;
    }

    private void print(List<String> inputs, JsonNode items) throws CommandFailed {
      StringBuilder found = new StringBuilder();
      for (JsonNode item : items) {
        JsonNode id = item.path("public_id");
        answered++;
        if (id.isObject()) {
          found
              .append(id.path("id").asString())
              .append(',')
              .append(id.path("type").asString())
              .append(',')
              .append(id.path("key").asString())
              .append('\n');
        } else {
          refused++;
          complain(inputs.get(item.path("index").asInt()), item.path("error"));
        }
      }
      PrintWriter out = command.commandLine().getOut();
      out.print(found);
      if (out.checkError()) {
        throw new CommandFailed("nobody reads the output any more.");
      }
    }

    private void complain(String input, JsonNode error) {
      command
          .commandLine()
          .getErr()
          .println(
              input
                  + ": "
                  + error.path("code").asString()
                  + ". "
                  + error.path("detail").asString());
    }
  }

  /** {@code coatcheck mint TYPE [KEY…]}. */
  @Command(
      name = "mint",
      description = "Mints public IDs for keys, or with --count for generated keys.",
      mixinStandardHelpOptions = true)
  static final class Mint implements Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "TYPE", description = "Name of the type.")
    private String type;

    @Parameters(index = "1..*", paramLabel = "KEY", description = "Keys; none or - to read lines.")
    private List<String> keys = List.of();

    @Option(names = "--count", description = "Generate this many keys instead, 1 to 1000000.")
    private @org.jspecify.annotations.Nullable Integer count;

    @Override
    public Integer call() throws CommandFailed {
      Calls calls = new Calls(spec, gateway, "/v1/ids/batch");
      if (count == null) {
        return calls.sendAll(
            keys,
            some ->
                Map.of(
                    "items", some.stream().map(key -> Map.of("type", type, "key", key)).toList()));
      }
      if (count < 1 || count > COUNT_MAX) {
        throw new ParameterException(spec.commandLine(), "--count must be 1 to " + COUNT_MAX + ".");
      }
      if (!keys.isEmpty()) {
        throw new ParameterException(spec.commandLine(), "Give keys or --count, not both.");
      }
      for (int left = count; left > 0; left -= ITEMS_MAX) {
        calls.send(Map.of("type", type, "count", Math.min(left, ITEMS_MAX)), List.of());
      }
      return calls.status();
    }
  }

  /** {@code coatcheck resolve [ID…]}. */
  @Command(
      name = "resolve",
      description = "Resolves public IDs to their keys.",
      mixinStandardHelpOptions = true)
  static final class Resolve implements Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "ID", description = "Public IDs; none or - to read lines.")
    private List<String> ids = List.of();

    @Override
    public Integer call() throws CommandFailed {
      return new Calls(spec, gateway, "/v1/ids/resolve").sendAll(ids, some -> Map.of("ids", some));
    }
  }

  /** {@code coatcheck lookup TYPE [KEY…]}. */
  @Command(
      name = "lookup",
      description = "Looks up the public IDs of keys.",
      mixinStandardHelpOptions = true)
  static final class Lookup implements Callable<Integer> {
    @Mixin private GatewayCalls gateway = new GatewayCalls();
    @Spec private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "TYPE", description = "Name of the type.")
    private String type;

    @Parameters(index = "1..*", paramLabel = "KEY", description = "Keys; none or - to read lines.")
    private List<String> keys = List.of();

    @Override
    public Integer call() throws CommandFailed {
      return new Calls(spec, gateway, "/v1/ids/lookup")
          .sendAll(keys, some -> Map.of("type", type, "keys", some));
    }
  }
}
