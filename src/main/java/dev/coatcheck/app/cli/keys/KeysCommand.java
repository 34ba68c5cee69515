package dev.coatcheck.app.cli.keys;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck keys}: generates keys, and shows the workers. */
@Command(
    name = "keys",
    addMethodSubcommands = false,
    description = "Generates keys, and lists the workers that generate keys.",
    subcommands = SnoVerb.class)
public final class KeysCommand {
  @Spec private CommandSpec spec;

  @Command(
      name = "next",
      description = "Generates keys and prints a key a line.",
      footer = "  coatcheck keys next --count 3")
  void next(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Option(
              names = "--scheme",
              paramLabel = "SCHEME",
              defaultValue = "snowflake",
              description =
                  "snowflake, uuidv7, segment, ulid, ksuid, sno or rocketmq. Default:"
                      + " ${DEFAULT-VALUE}.")
          String scheme,
      @Option(
              names = "--layout",
              paramLabel = "LAYOUT",
              description = "Layout of Snowflake keys: its name, or its bits and epoch.")
          @Nullable String layout,
      @Option(
              names = "--count",
              paramLabel = "N",
              defaultValue = "1",
              description = "Number of keys, 1 to 16384. Default: ${DEFAULT-VALUE}.")
          int count,
      @Option(
              names = "--at",
              paramLabel = "TIME",
              description = "Time that the keys carry, such as 2026-01-31T12:00:00Z. Default: now.")
          @Nullable String at,
      @Option(
              names = "--tag",
              paramLabel = "TAG",
              description = "Name of the segment that counts the keys.")
          @Nullable String tag,
      @Option(
              names = "--metabyte",
              paramLabel = "BYTE",
              description = "A byte of yours in each sno, 0 to 255.")
          @Nullable Integer metabyte)
      throws CommandFailed {
    Map<String, Object> body = new LinkedHashMap<>(Map.of("scheme", scheme, "count", count));
    if (metabyte != null) {
      body.put("metabyte", metabyte);
    }
    put(body, "layout", layout);
    put(body, "at", at);
    put(body, "tag", tag);
    List<JsonNode> keys =
        gateway
            .post("/v1/keys", body)
            .path("keys")
            .valueStream()
            .map(key -> Output.object(Map.of("key", key)))
            .toList();
    output.rows(keys, "key");
  }

  @Command(
      name = "bounds",
      description = {
        "Prints the smallest and the largest key that a span of time can hold.",
        "With --bucket-millis prints a line for each bucket, the newest first: its number, its"
            + " begin, its end, its smallest and its largest key."
      },
      footer = "  coatcheck keys bounds --type charge --from 2026-11-01T00:00:00Z")
  void bounds(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Option(
              names = "--type",
              paramLabel = "NAME",
              description = "Type with the keys; or --layout.")
          @Nullable String type,
      @Option(
              names = "--layout",
              paramLabel = "LAYOUT",
              description = "Layout of Snowflake keys: its name, or its bits and epoch.")
          @Nullable String layout,
      @Option(
              names = "--from",
              paramLabel = "TIME",
              description = "First time in the span, such as 2026-01-31T12:00:00Z; or --from-key.")
          @Nullable String from,
      @Option(
              names = "--from-key",
              paramLabel = "KEY",
              description = "A key of the first moment in the span.")
          @Nullable String fromKey,
      @Option(
              names = "--to",
              paramLabel = "TIME",
              description = "First time after the span; or --to-key. Default: now.")
          @Nullable String to,
      @Option(
              names = "--to-key",
              paramLabel = "KEY",
              description = "A key of the last moment in the span.")
          @Nullable String toKey,
      @Option(
              names = "--bucket-millis",
              paramLabel = "MILLIS",
              description = "Length of a bucket in milliseconds.")
          @Nullable Long bucketMillis)
      throws CommandFailed {
    if ((from == null) == (fromKey == null)) {
      throw new ParameterException(
          spec.commandLine(), "Give exactly one of --from and --from-key.");
    }
    String path = GatewayCalls.path("/v1/keys/bounds", "from", from, "from_key", fromKey);
    path = GatewayCalls.path(path, "type", type, "layout", layout, "to", to, "to_key", toKey);
    JsonNode bounds = gateway.get(GatewayCalls.path(path, "bucket_millis", bucketMillis));
    if (bounds.path("empty").asBoolean()) {
      throw new CommandFailed("no key has a time in this span.");
    }
    if (bucketMillis == null) {
      output.rows(List.of(bounds), "smallest", "largest");
    } else {
      output.rows(bounds.path("buckets"), "number", "from", "to", "smallest", "largest");
    }
  }

  private static void put(Map<String, Object> body, String name, @Nullable Object value) {
    if (value != null) {
      body.put(name, value);
    }
  }

  @Command(
      name = "fence",
      description = {
        "Opens the fence that a failover or a restore of Postgres puts up before grants.",
        "Stop the old primary first. --advance is at least as many numbers as may have been"
            + " granted in the moments whose commits were lost.",
        "Keys for given times change to the workers that --dated-worker names. Write the number"
            + " down: this database may be lost in the next failover.",
        "Does nothing to an open fence, and prints the last dated worker."
      },
      footer = "  coatcheck keys fence --advance 1000000 --dated-worker 2")
  void fence(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Option(
              names = "--advance",
              paramLabel = "N",
              required = true,
              description = "How many numbers to skip in each segment, up to 1000000000.")
          int advance,
      @Option(
              names = "--dated-worker",
              paramLabel = "WORKER",
              description =
                  "Which of each layout's workers for given times to use from now on, such as 2;"
                      + " greater than any that was named before, on whichever primary.")
          @Nullable Integer datedWorker)
      throws CommandFailed {
    Map<String, Object> body = new LinkedHashMap<>(Map.of("advance", advance));
    put(body, "dated_worker", datedWorker);
    JsonNode fence = gateway.post("/v1/keys/fence", body);
    output.print(
        fence,
        (fence.path("was_closed").asBoolean()
                ? "The fence was closed and is open now."
                : "The fence was open already; nothing was done.")
            + " The last dated worker is "
            + fence.path("dated_worker").asInt()
            + ".");
  }

  @Command(
      name = "list",
      description = "Lists the workers that are leased or rest.",
      footer = "  coatcheck keys list")
  void list(@Mixin GatewayCalls gateway, @Mixin Output output) throws CommandFailed {
    output.rows(
        gateway.get("/v1/workers").path("data"),
        "layout",
        "worker",
        "status",
        "granted_until",
        "resting_until",
        "holder");
  }
}
