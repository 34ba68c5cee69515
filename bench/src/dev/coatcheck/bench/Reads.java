package dev.coatcheck.bench;

import dev.coatcheck.core.id.Token;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** The measures that read: redirects and resolves, from memory and from Postgres. */
record Reads(Requests requests, BaselineStore store, Tokens tokens, InterleavedRounds turns) {
  private static final int CACHED_MAX = 1_000;
  private static final int SELECTING_CLIENTS = 8;
  private static final int POOL_SIZE = 10;

  /** Asks for few IDs again and again; the first time around the cache learns them. */
  List<Comparison> cached(Set<Measure> measures, Path folder)
      throws IOException, InterruptedException {
    int few = Math.min(CACHED_MAX, tokens.count());
    Supplier<Token> some = () -> tokens.get(ThreadLocalRandom.current().nextInt(few));
    List<Comparison> all = new ArrayList<>();
    if (measures.contains(Measure.P1)) {
      all.add(redirects(requests.redirects(some), folder));
    }
    if (measures.contains(Measure.P2)) {
      List<Pace> paces = turns.take(List.of(requests.resolves(some), requests.nothing()));
      all.add(compare(Measure.P2, paces, "its own /health/live"));
    }
    return all;
  }

  private Comparison redirects(HttpLoad redirects, Path folder)
      throws IOException, InterruptedException {
    Optional<NginxRedirect> started = NginxRedirect.start(folder, Requests.LOCATION);
    if (started.isEmpty()) {
      List<Pace> paces = turns.take(List.of(redirects, requests.nothing()));
      return compare(Measure.P1, paces, "its own /health/live (no nginx)");
    }
    try (NginxRedirect nginx = started.get()) {
      HttpLoad same = new HttpLoad(nginx.address(), redirects.connections(), redirects.requests());
      return compare(Measure.P1, turns.take(List.of(redirects, same)), "nginx return 302");
    }
  }

  /** Asks a gateway that caches nothing. */
  List<Comparison> uncached(Set<Measure> measures) {
    if (!measures.contains(Measure.P3) && !measures.contains(Measure.P8)) {
      return List.of();
    }
    List<Pace> paces =
        turns.take(
            List.of(
                requests.resolves(tokens::random),
                time -> store.selects(SELECTING_CLIENTS, tokens, time),
                time -> store.pooledSelects(requests.connections(), POOL_SIZE, tokens, time)));
    List<Comparison> all = new ArrayList<>();
    if (measures.contains(Measure.P3)) {
      all.add(compare(Measure.P3, paces, "JDBC select, " + SELECTING_CLIENTS + " clients"));
    }
    if (measures.contains(Measure.P8)) {
      all.add(
          new Comparison(
              Measure.P8,
              paces.getFirst().p99Millis(),
              "JDBC select, " + requests.connections() + " callers, pool of " + POOL_SIZE,
              paces.getLast().p99Millis()));
    }
    return all;
  }

  private static Comparison compare(Measure measure, List<Pace> paces, String against) {
    return new Comparison(measure, paces.get(0).perSecond(), against, paces.get(1).perSecond());
  }
}
