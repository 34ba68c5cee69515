package dev.coatcheck.test;

import dev.coatcheck.client.CoatcheckClient;
import java.net.URI;

/**
 * A gateway in memory, for tests of an application's own code: its client is the real one, and no
 * server, database or network is needed.
 *
 * <pre>{@code
 * FakeGateway gateway = new FakeGateway(Charge.class);
 * CoatcheckClient client = gateway.client();
 * PublicId<Charge> id = client.mint(MintRequest.of(Key.of(Charge.class, 42))).mapping().id();
 * }</pre>
 *
 * <p>It mints, resolves, looks up keys, legacy IDs and other aliases, revokes, merges, and adds and
 * removes aliases, one at a time and in batches, each Idempotency-Key once, as a gateway does. It
 * knows no API keys, no limits and no settings of types, and answers all other calls with 501
 * {@code not_in_the_fake}. Thread-safe.
 */
public final class FakeGateway {
  private static final URI NOWHERE = URI.create("http://fake-gateway.invalid");

  private final FakeRoutes routes = new FakeRoutes(new FakeIds());
  private final InMemoryHttp http = new InMemoryHttp(routes);

  /**
   * A gateway with types of 64-bit keys, which it makes where a mint brings none.
   *
   * @param types classes with {@link dev.coatcheck.id.PublicIdType}. One without a name there is
   *     named after its prefix
   */
  public FakeGateway(Class<?>... types) {
    for (Class<?> type : types) {
      routes.register(type, false);
    }
  }

  /**
   * More types, whose keys are UUIDs.
   *
   * @param types as above
   * @return this
   */
  public FakeGateway withUuids(Class<?>... types) {
    for (Class<?> type : types) {
      routes.register(type, true);
    }
    return this;
  }

  /**
   * A client of this gateway. It tries each call once, so that a test of an outage doesn't wait.
   *
   * @return a client that need not be closed
   */
  public CoatcheckClient client() {
    return CoatcheckClient.builder(NOWHERE).apiKey("fake").httpClient(http).triesMax(1).build();
  }

  /**
   * Begins or ends an outage. In one, each call fails as without a connection.
   *
   * @param isReachable false for an outage
   */
  public void setReachable(boolean isReachable) {
    http.setReachable(isReachable);
  }
}
