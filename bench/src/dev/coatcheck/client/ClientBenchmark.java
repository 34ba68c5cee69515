package dev.coatcheck.client;

import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What {@code coatcheck-client} costs its application, in nanoseconds of one thread a call. The
 * network takes no time here, so {@code resolve} less {@code bareCall} is what the client adds to a
 * call of {@code java.net.http}: at most 15 µs. An answer that is kept takes at most 200 ns.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Threads(1)
@Fork(value = 2, jvmArgsAppend = "-XX:+UseSerialGC")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class ClientBenchmark {
  private static final URI GATEWAY = URI.create("http://127.0.0.1:8080");
  private static final String ID = "ch_4KIWSf8WvPNoQDBwStVIDYHU";
  private static final String ANSWER =
      """
      {"id":"ch_4KIWSf8WvPNoQDBwStVIDYHU","type":"charge","key":"7349583209348","status":"active",\
      "created_at":"2026-11-27T12:00:00.000Z","expires_at":null,"legacy_id":null}\
      """;

  private final HttpClient http = new InMemoryHttp(ANSWER);
  private final PublicId<Charge> id = PublicId.of(Charge.class, ID);
  private final CoatcheckClient client = builder().build();
  private final CoatcheckClient caching = builder().cache(1_000).build();

  @PublicIdType(prefix = "ch")
  public static final class Charge {
    private Charge() {}
  }

  private CoatcheckClient.Builder builder() {
    return CoatcheckClient.builder(GATEWAY).apiKey("ck_4KIWSf8WvPNoQDBwStVIDYHU").httpClient(http);
  }

  @Setup
  public void awaitTrust() {
    while (caching.cacheStatistics().hits() == 0) {
      LockSupport.parkNanos(1_000_000);
      Resolution<Charge> _ = caching.resolve(id);
    }
  }

  @TearDown
  public void stop() {
    caching.close();
  }

  @Benchmark
  public byte[] bareCall() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(GATEWAY + "/v1/ids/" + id))
            .header("Authorization", "Bearer ck_4KIWSf8WvPNoQDBwStVIDYHU")
            .build();
    return http.send(request, BodyHandlers.ofByteArray()).body();
  }

  @Benchmark
  public Resolution<Charge> resolve() {
    return client.resolve(id);
  }

  @Benchmark
  public Resolution<Charge> resolveKept() {
    return caching.resolve(id);
  }

  @Benchmark
  public Resolution<Charge> resolveKeptText() {
    return caching.resolve(Charge.class, ID);
  }
}
