package dev.coatcheck.postgres.sql;

import dev.coatcheck.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A PgBouncer before a database, if one is installed: where {@code COATCHECK_TEST_PGBOUNCER} says,
 * on the path, or in {@code /usr/sbin}.
 */
public final class PgBouncer implements AutoCloseable {
  private final Process process;
  private final TestDatabase database;

  private PgBouncer(Process process, TestDatabase database) {
    this.process = process;
    this.database = database;
  }

  public static Optional<Path> program() {
    Stream<Path> given =
        Optional.ofNullable(System.getenv("COATCHECK_TEST_PGBOUNCER")).map(Path::of).stream();
    Stream<Path> onPath =
        Stream.concat(
                Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1)),
                Stream.of("/usr/sbin"))
            .map(folder -> Path.of(folder, "pgbouncer"));
    return Stream.concat(given, onPath).filter(Files::isExecutable).findFirst();
  }

  /**
   * Starts one.
   *
   * @param mode {@code transaction} or {@code session}
   * @param backends at most
   * @param goesRound each transaction gets the backend that has rested longest
   * @param takesOptions and forgets them
   */
  public static PgBouncer start(
      Path folder,
      TestDatabase database,
      String mode,
      int backends,
      boolean goesRound,
      boolean takesOptions)
      throws IOException {
    URI server = URI.create(database.url().substring("jdbc:".length()));
    int port = FreePort.next();
    Path settings =
        Files.writeString(
            folder.resolve("pgbouncer-" + port + ".ini"),
            """
            [databases]
            * = host=%s port=%d user=%s password=%s
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = %d
            unix_socket_dir =
            auth_type = any
            pool_mode = %s
            default_pool_size = %d
            server_round_robin = %d
            ignore_startup_parameters = extra_float_digits%s
            """
                .formatted(
                    server.getHost(),
                    server.getPort(),
                    database.user(),
                    database.password(),
                    port,
                    mode,
                    backends,
                    goesRound ? 1 : 0,
                    takesOptions ? ", options" : ""));
    Files.setPosixFilePermissions(settings, PosixFilePermissions.fromString("rw-r--r--"));
    List<String> command = new ArrayList<>(List.of(program().orElseThrow().toString()));
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("-u", "nobody"));
    }
    command.add(settings.toString());
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("pgbouncer-" + port + ".log").toFile())
            .start();
    String url = database.url().replaceFirst("//[^/]+/", "//127.0.0.1:" + port + "/");
    PgBouncer started =
        new PgBouncer(process, new TestDatabase(url, database.user(), database.password()));
    Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> isListening(process, port));
    return started;
  }

  /** The database, through it. */
  public TestDatabase database() {
    return database;
  }

  private static boolean isListening(Process process, int port) {
    if (!process.isAlive()) {
      throw new AssertionError("pgbouncer ended with " + process.exitValue());
    }
    try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
