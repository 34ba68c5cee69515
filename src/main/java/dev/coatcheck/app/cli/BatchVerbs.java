package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code coatcheck mint}, {@code resolve} and {@code lookup}: take their input from arguments or
 * from lines of standard input, send a thousand items per request, and print {@code id,type,key}.
 * Refused items go to standard error and make the exit status 1; all other items are done.
 */
final class BatchVerbs {
  private static final int COUNT_MAX = 1_000_000;

  private BatchVerbs() {}

  /** {@code coatcheck mint TYPE [KEY…]}. */
  @Command(
      name = "mint",
      description = "Mints public IDs for keys, or with --count for generated keys.",
      footer = "  coatcheck mint charge 101 102")
  static final class Mint implements Callable<Integer> {
    private static final String PATH = "/v1/ids/batch";

    @Mixin private BatchCalls calls = new BatchCalls();
    @Spec private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "TYPE", description = "Name of the type.")
    private String type;

    @Parameters(
        index = "1..*",
        paramLabel = "KEY",
        description = "Keys. Without keys, or with -, reads a key a line from standard input.")
    private List<String> keys = List.of();

    @Option(
        names = "--count",
        paramLabel = "N",
        description = "Number of keys to generate, 1 to 1000000.")
    private @Nullable Integer count;

    @Override
    public Integer call() throws CommandFailed {
      if (count == null) {
        return calls.sendAll(
            PATH,
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
      for (int left = count; left > 0; left -= BatchCalls.ITEMS_MAX) {
        calls.send(
            PATH, Map.of("type", type, "count", Math.min(left, BatchCalls.ITEMS_MAX)), List.of());
      }
      return calls.status();
    }
  }

  /** {@code coatcheck resolve [ID…]}. */
  @Command(
      name = "resolve",
      description = "Resolves public IDs to their keys.",
      footer = "  coatcheck resolve ch_4KIWSf8WvPNoQDBwStVIDYHU")
  static final class Resolve implements Callable<Integer> {
    @Mixin private BatchCalls calls = new BatchCalls();

    @Parameters(
        paramLabel = "ID",
        description = "Public IDs. Without IDs, or with -, reads an ID a line from standard input.")
    private List<String> ids = List.of();

    @Override
    public Integer call() throws CommandFailed {
      return calls.sendAll("/v1/ids/resolve", ids, some -> Map.of("ids", some));
    }
  }

  /** {@code coatcheck lookup TYPE [KEY…]}. */
  @Command(
      name = "lookup",
      description = "Looks up the public IDs of keys.",
      footer = "  coatcheck lookup charge 101 102")
  static final class Lookup implements Callable<Integer> {
    @Mixin private BatchCalls calls = new BatchCalls();

    @Parameters(index = "0", paramLabel = "TYPE", description = "Name of the type.")
    private String type;

    @Parameters(
        index = "1..*",
        paramLabel = "KEY",
        description = "Keys. Without keys, or with -, reads a key a line from standard input.")
    private List<String> keys = List.of();

    @Override
    public Integer call() throws CommandFailed {
      return calls.sendAll("/v1/ids/lookup", keys, some -> Map.of("type", type, "keys", some));
    }
  }
}
