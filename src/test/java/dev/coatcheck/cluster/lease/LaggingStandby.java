package dev.coatcheck.cluster.lease;

import static org.awaitility.Awaitility.await;

import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A primary with our schema and a standby that streams from it until {@link #lag}. The standby
 * begins as a copy of the stopped primary, because the embedded Postgres has no pg_basebackup.
 */
public final class LaggingStandby implements AutoCloseable {
  private final EmbeddedDatabase primary;
  private final Path standbyHome;
  private final FaultProxy stream;
  private EmbeddedDatabase standby;

  private LaggingStandby(
      EmbeddedDatabase primary, Path standbyHome, EmbeddedDatabase standby, FaultProxy stream) {
    this.primary = primary;
    this.standbyHome = standbyHome;
    this.standby = standby;
    this.stream = stream;
  }

  public static LaggingStandby start(Path folder) throws IOException, UnusableDatabase {
    Path primaryHome = folder.resolve("primary");
    Path standbyHome = folder.resolve("standby");
    migrated(primaryHome).close();
    copy(primaryHome, standbyHome);
    EmbeddedDatabase primary = EmbeddedDatabase.start(primaryHome, TestServer.PROGRAMS);
    FaultProxy stream = new FaultProxy(TestDatabase.on(primary).port());
    Files.createFile(standbyHome.resolve("data/standby.signal"));
    Files.writeString(
        standbyHome.resolve("data/postgresql.auto.conf"),
        "primary_conninfo = 'host=127.0.0.1 port=%d user=%s password=%s'%n"
            .formatted(stream.port(), primary.user(), primary.password()),
        StandardOpenOption.APPEND);
    return new LaggingStandby(
        primary, standbyHome, EmbeddedDatabase.start(standbyHome, TestServer.PROGRAMS), stream);
  }

  /** A database of its own with our schema. */
  static EmbeddedDatabase migrated(Path home) throws UnusableDatabase {
    EmbeddedDatabase database = EmbeddedDatabase.start(home, TestServer.PROGRAMS);
    TestSql.on(database).migrate();
    return database;
  }

  /** Only a machine that fails needs it; it takes most of each start and stop on a busy disk. */
  static void syncNothing(EmbeddedDatabase database) {
    TestSql.on(database).execute("alter system set fsync = off");
    TestSql.on(database).execute("select pg_reload_conf()");
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  public EmbeddedDatabase primary() {
    return primary;
  }

  public EmbeddedDatabase standby() {
    return standby;
  }

  /** All processes of the standby get the signal. */
  public void signalStandby(String name) throws IOException {
    String pid = Files.readAllLines(standbyHome.resolve("data/postmaster.pid")).getFirst().strip();
    List<String> command = new ArrayList<>(List.of("kill", "-" + name, pid));
    ProcessHandle.of(Long.parseLong(pid)).stream()
        .flatMap(ProcessHandle::descendants)
        .forEach(child -> command.add(Long.toString(child.pid())));
    new ProcessBuilder(command).start().onExit().join();
  }

  /** Starts the standby, on another port, after it was stopped or killed. */
  public void startStandbyAgain() throws UnusableDatabase {
    standby.close();
    standby = EmbeddedDatabase.start(standbyHome, TestServer.PROGRAMS);
  }

  /** From now on the standby sees nothing of what the primary commits; it has all until now. */
  public void lag() throws Exception {
    String position = TestSql.on(primary).text("select pg_current_wal_lsn()");
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                "t"
                    .equals(
                        TestSql.on(standby)
                            .text("select pg_last_wal_replay_lsn() >= '%s'".formatted(position))));
    stream.freeze(true);
  }

  /** Makes the standby the primary of a new timeline. */
  public void promote() throws Exception {
    TestSql.on(standby).execute("select pg_promote()");
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> "f".equals(TestSql.on(standby).text("select pg_is_in_recovery()")));
  }

  @Override
  public void close() throws IOException, UnusableDatabase {
    try (stream;
        var _ = closing(primary);
        var _ = closing(standby)) {
      stream.freeze(false);
    }
  }

  private interface Closing extends AutoCloseable {
    @Override
    void close() throws UnusableDatabase;
  }

  private static Closing closing(EmbeddedDatabase database) {
    return database::close;
  }
}
