package dev.coatcheck.cluster.change;

import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.cluster.lease.LaggingStandby;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A primary, its streaming replica, and gateways that read there and cache nothing. */
public final class ReplicaPair implements AutoCloseable {
  private final TestHome home;
  private final LaggingStandby servers;
  private final FaultProxy reads;

  private ReplicaPair(TestHome home, LaggingStandby servers, FaultProxy reads) {
    this.home = home;
    this.servers = servers;
    this.reads = reads;
  }

  public static ReplicaPair start() throws Exception {
    TestHome home = TestHome.fresh();
    LaggingStandby servers = LaggingStandby.start(home.folder());
    return new ReplicaPair(
        home, servers, new FaultProxy(TestDatabase.on(servers.standby()).port()));
  }

  public LaggingStandby servers() {
    return servers;
  }

  public TestDatabase primary() {
    return TestDatabase.on(servers.primary());
  }

  /** Statements on the replica, beside those of gateways. */
  public TestSql replica() {
    return TestSql.on(servers.standby());
  }

  /** The way of the gateways to the replica. */
  public FaultProxy reads() {
    return reads;
  }

  public String url() {
    return primary().behind(reads.port()).url();
  }

  public GatewayFixture gateway(String... settings) {
    List<String> all =
        new ArrayList<>(
            List.of("COATCHECK_DATABASE_REPLICA_URL", url(), "COATCHECK_CACHE_ENTRIES", "0"));
    all.addAll(List.of(settings));
    return GatewayFixture.on(primary(), all.toArray(String[]::new));
  }

  /** Waits until the replica has replayed all that is committed now. */
  public void awaitReplay() {
    String position = TestSql.on(servers.primary()).text("select pg_current_wal_lsn()");
    await()
        .until(
            () ->
                "t"
                    .equals(
                        replica()
                            .text("select pg_last_wal_replay_lsn() >= '%s'".formatted(position))));
  }

  /** Starts the replica again, after it was killed. */
  public void startAgain() throws Exception {
    servers.startStandbyAgain();
    reads.target(TestDatabase.on(servers.standby()).port());
  }

  /** The replica replays nothing until {@link #resume}. */
  public void pause() {
    untilDone("select pg_wal_replay_pause()");
  }

  public void resume() {
    untilDone("select pg_wal_replay_resume()");
  }

  /** The replica breaks off what conflicts with its replay. */
  private void untilDone(String statement) {
    await().ignoreExceptions().until(() -> replica().text(statement) != null);
  }

  /** How many public IDs were read at the replica. */
  public static long served(TestClient client) {
    return metric(client, "coatcheck_replica_served_total");
  }

  /** How many were asked at the primary for that reason. */
  public static long passedOver(TestClient client, String reason) {
    return metric(client, "coatcheck_replica_passed_over_total{reason=\"" + reason + "\"}");
  }

  private static long metric(TestClient client, String series) {
    Matcher line =
        Pattern.compile("^" + Pattern.quote(series) + " ([0-9.E]+)$", Pattern.MULTILINE)
            .matcher(client.get("/metrics").body().stringValue());
    return line.find() ? (long) Double.parseDouble(line.group(1)) : 0;
  }

  /** Waits until the gateway uses the replica, or doesn't. */
  public static void awaitUsed(GatewayFixture gateway, boolean isUsed) {
    await().until(() -> metric(gateway.client(), "coatcheck_replica_used") == (isUsed ? 1 : 0));
  }

  @Override
  public void close() throws IOException, UnusableDatabase {
    try (home) {
      reads.close();
      servers.signalStandby("CONT");
      servers.close();
    }
  }
}
