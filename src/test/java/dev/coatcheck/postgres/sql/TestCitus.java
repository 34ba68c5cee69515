package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.distributed.Distribution;
import java.util.List;
import java.util.stream.Stream;

/**
 * Databases on a Citus cluster: each exists on every node. Chosen by {@code
 * -Dcoatcheck.test.tables=citus} and {@code COATCHECK_TEST_CITUS_URL}, which names a database of
 * the coordinator that knows the workers.
 */
final class TestCitus {
  static final String URL = "COATCHECK_TEST_CITUS_URL";

  /** Fewer than in use, because a test makes many databases. */
  private static final int SHARDS = 8;

  private final TestSql coordinator;
  private final List<String> workers;

  TestCitus(TestSql coordinator) {
    this.coordinator = coordinator;
    this.workers =
        coordinator.texts(
            "select nodename || ':' || nodeport from pg_dist_node where groupid <> 0 order by 1");
  }

  static boolean isChosen() {
    return "citus".equals(System.getProperty("coatcheck.test.tables"));
  }

  void create(String name) {
    List<String> all = nodes();
    for (String node : all) {
      on(node, "postgres").execute("create database " + name);
      on(node, name).execute("create extension citus");
    }
    TestSql own = on(all.getFirst(), name);
    own.execute(
        "select citus_set_coordinator_host('%s', %s)"
            .formatted((Object[]) all.getFirst().split(":")));
    workers.forEach(
        worker ->
            own.execute("select citus_add_node('%s', %s)".formatted((Object[]) worker.split(":"))));
  }

  void drop(String name) {
    nodes()
        .forEach(
            node ->
                on(node, "postgres").execute("drop database if exists " + name + " with (force)"));
  }

  static void distribute(TestDatabase database) {
    try {
      Distribution.Distributed _ = Distribution.distribute(database.settings(1), SHARDS);
    } catch (UnusableDatabase refused) {
      throw new AssertionError(refused);
    }
  }

  /** The coordinator first. */
  private List<String> nodes() {
    String own = coordinator.url().replaceAll("jdbc:postgresql://([^/]+)/.*", "$1");
    return Stream.concat(Stream.of(own), workers.stream()).toList();
  }

  private TestSql on(String node, String database) {
    return new TestSql(
        "jdbc:postgresql://" + node + "/" + database, coordinator.user(), coordinator.password());
  }
}
