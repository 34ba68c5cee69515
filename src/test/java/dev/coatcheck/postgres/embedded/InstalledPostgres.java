package dev.coatcheck.postgres.embedded;

import dev.coatcheck.FreePort;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/**
 * A server of the machine's own Postgres, which has the programs that ours lacks, {@code pg_dump}
 * among them. It goes with the test.
 */
public final class InstalledPostgres implements AutoCloseable {
  private static final String USER = "coatcheck";
  private static final String PASSWORD = "only for this test";
  private static final int VERSION_MIN = 15;
  private static final List<String> NEEDED =
      List.of("initdb", "pg_ctl", "postgres", "pg_dump", "pg_restore");

  private final Path bin;
  private final Path folder;
  private final int port;

  private InstalledPostgres(Path bin, Path folder, int port) {
    this.bin = bin;
    this.folder = folder;
    this.port = port;
  }

  /** Skips the test where there is none. */
  public static InstalledPostgres start() throws IOException {
    Path bin =
        installed()
            .orElseThrow(
                () ->
                    new TestAbortedException(
                        "PostgreSQL %d or later is not installed in /usr/lib/postgresql, or without pg_dump"
                            .formatted(VERSION_MIN)));
    Path folder = Files.createTempDirectory("coatcheck-postgres-");
    InstalledPostgres server = new InstalledPostgres(bin, folder, FreePort.next());
    Path password = Files.writeString(folder.resolve("password"), PASSWORD);
    String data = "--pgdata=" + folder.resolve("data");
    server.run("initdb", data, "-U", USER, "-A", "scram-sha-256", "--pwfile=" + password);
    server.run(
        "pg_ctl",
        "start",
        data,
        "--wait",
        "--log=" + folder.resolve("log"),
        "--options=-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
            .formatted(server.port));
    return server;
  }

  /** The newest that has all of the programs. */
  private static Optional<Path> installed() throws IOException {
    Path all = Path.of("/usr/lib/postgresql");
    if (!Files.isDirectory(all)) {
      return Optional.empty();
    }
    try (Stream<Path> versions = Files.list(all)) {
      return versions
          .filter(version -> version.getFileName().toString().matches("[0-9]+"))
          .filter(version -> number(version) >= VERSION_MIN)
          .sorted(Comparator.comparingInt(InstalledPostgres::number).reversed())
          .map(version -> version.resolve("bin"))
          .filter(bin -> NEEDED.stream().allMatch(name -> Files.isExecutable(bin.resolve(name))))
          .findFirst();
    }
  }

  private static int number(Path version) {
    return Integer.parseInt(version.getFileName().toString());
  }

  /** An empty one. */
  public TestDatabase database(String name) {
    new TestSql(url("postgres"), USER, PASSWORD).execute("create database " + name);
    return new TestDatabase(url(name), USER, PASSWORD);
  }

  /** The whole database as it is in one snapshot, in a file. */
  public Path dump(String database) throws IOException {
    Path file = folder.resolve(database + ".dump");
    run("pg_dump", flag("dbname", database), "--format=custom", "--file=" + file);
    return file;
  }

  /** All that was dumped, or an error. */
  public void restore(Path dump, String database) throws IOException {
    run("pg_restore", "--exit-on-error", flag("dbname", database), dump.toString());
  }

  private String flag(String name, String database) {
    return "--%s=host=127.0.0.1 port=%d user=%s dbname=%s".formatted(name, port, USER, database);
  }

  private String url(String database) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + database;
  }

  /** As root each in a user namespace, because Postgres refuses to run as root. */
  private void run(String program, String... arguments) throws IOException {
    boolean root = DataDirectory.currentUserNumber(folder) == 0;
    List<String> command = new ArrayList<>(root ? List.of("unshare", "--user") : List.of());
    command.add(bin.resolve(program).toString());
    command.addAll(List.of(arguments));
    Path output = Files.createTempFile(folder, program, ".out");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
    builder.environment().put("PGPASSWORD", PASSWORD);
    builder.environment().put("LC_ALL", "C");
    try {
      if (builder.start().waitFor() != 0) {
        throw new AssertionError(program + ": " + Files.readString(output, StandardCharsets.UTF_8));
      }
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
      throw new IOException(hurried);
    }
  }

  @Override
  public void close() throws IOException {
    run("pg_ctl", "stop", "--pgdata=" + folder.resolve("data"), "--mode=immediate");
    FileTree.delete(folder);
  }
}
