package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.load.Load;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.core.older.Hashids;
import dev.coatcheck.core.older.Sqids;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * P21: cached resolves of public IDs of older systems, which the rule of a type decodes, against
 * the same resolves by public IDs of ours. Costs, so that the ratio is that of the times.
 */
record OlderReads(
    GatewayProcess gateway,
    Gateways gateways,
    Requests requests,
    InterleavedRounds turns,
    Generator generator,
    Goals goals) {
  /** Public IDs that the gateway caches for these requests. */
  static final int CACHED = 2 * Reads.CACHED;

  private static final String SALT = "bench";
  private static final int MIN_LENGTH = 16;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  List<Row> measure(Path folder) throws IOException, InterruptedException {
    Hashids hashids = new Hashids(SALT, Hashids.DEFAULT_ALPHABET, MIN_LENGTH);
    Sqids sqids = new Sqids(Sqids.DEFAULT_ALPHABET, MIN_LENGTH);
    Path ours = mint(folder, "oldhash", "{\"scheme\":\"hashids\",\"salt\":\"%s\"".formatted(SALT));
    mint(folder, "oldsqid", "{\"scheme\":\"sqids\",\"text_prefix\":\"sq-\"");
    Path ofHashids = texts(folder.resolve("hashids"), hashids::encode);
    Path ofSqids = texts(folder.resolve("sqids"), number -> "sq-" + sqids.encode(number));
    try (Load byHashids = Load.of(requests.resolves(ofHashids), generator);
        Load bySqids = Load.of(requests.resolves(ofSqids), generator);
        Load byOurs = Load.of(requests.resolves(ours), generator)) {
      List<Turns> taken =
          turns.take(
              Measure.P21.name(),
              List.of(
                  new Side("the gateway", byHashids::closed, gateway.cpu()),
                  new Side("the gateway", bySqids::closed, gateway.cpu()),
                  new Side("its own public IDs", byOurs::closed, gateway.cpu())));
      Turns baseline = taken.get(2);
      return new Rows(Measure.P21, Measure.P21.what())
          .each("", ", Hashids", taken.get(0), baseline, goals.at(Goal.ratioAtMost(1.1)))
          .each(" sqids", ", Sqids", taken.get(1), baseline, goals.at(Goal.ratioAtMost(1.1)))
          .all();
    }
  }

  /** Registers a type with a rule and mints its things; the file of their public IDs. */
  private Path mint(Path folder, String type, String rule)
      throws IOException, InterruptedException {
    gateways.call(
        json("/v1/types/" + type)
            .PUT(
                HttpRequest.BodyPublishers.ofString(
                    "{\"prefix\":\"%s\",\"key\":\"bigint\",\"legacy\":{},\"public_rule\":%s,\"min_length\":%d}}"
                        .formatted(type, rule, MIN_LENGTH))));
    List<String> items =
        LongStream.rangeClosed(1, Reads.CACHED)
            .mapToObj(n -> "{\"type\":\"%s\",\"legacy_id\":\"%d\"}".formatted(type, n))
            .toList();
    String answer =
        gateways.call(
            json("/v1/ids/batch")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"items\":[%s]}".formatted(String.join(",", items)))));
    List<String> ids = new ArrayList<>();
    for (JsonNode entry : JSON.readTree(answer).at("/data")) {
      ids.add(entry.at("/public_id/id").asString());
    }
    return Files.write(folder.resolve(type + ".ids"), ids);
  }

  private HttpRequest.Builder json(String path) {
    return HttpRequest.newBuilder(gateway.url().resolve(path))
        .header("Content-Type", "application/json");
  }

  private static Path texts(Path file, LongFunction<String> text) throws IOException {
    return Files.write(file, LongStream.rangeClosed(1, Reads.CACHED).mapToObj(text).toList());
  }
}
