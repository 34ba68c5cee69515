package dev.coatcheck.postgres.embedded;

import dev.coatcheck.postgres.connection.UnusableDatabase;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** The files of the embedded Postgres in its home: the data directory and its password. */
final class DataDirectory {
  private static final int PASSWORD_BYTES = 16;
  private static final String INITDB_INTO = "--pgdata=";

  private final Path home;
  private final Path data;
  private final Path password;

  DataDirectory(Path home) {
    this.home = home;
    this.data = home.resolve("data");
    this.password = home.resolve("database-password");
  }

  Path data() {
    return data;
  }

  /** Refuses a data directory that this Postgres, run by this user, can't open. */
  void requireUsable(int userNumber) throws UnusableDatabase, IOException {
    if (!exists()) {
      return;
    }
    int version = version();
    if (version != PostgresBinaries.MAJOR_VERSION) {
      throw new UnusableDatabase(
          "The home %s holds data of Postgres %d, and this is Postgres %d: export it with the version that made it, or set COATCHECK_HOME to another directory."
              .formatted(home, version, PostgresBinaries.MAJOR_VERSION));
    }
    int owner = userNumber(data);
    if (owner != userNumber) {
      throw new UnusableDatabase(
          "The home %s belongs to user %d, and this is user %d: run as the owner, or set COATCHECK_HOME to another directory."
              .formatted(home, owner, userNumber));
    }
  }

  /** Creates the cluster if there is none. A crash leaves nothing that looks like a cluster. */
  void create(PostgresBinaries binaries, String superuser) throws UnusableDatabase, IOException {
    sweep();
    if (exists()) {
      return;
    }
    writePassword();
    Path unfinished = Files.createTempDirectory(home, "data.new-");
    PostgresBinaries.Ended initdb =
        binaries.run(
            "initdb",
            INITDB_INTO + unfinished,
            "--username=" + superuser,
            "--pwfile=" + password,
            "--auth=scram-sha-256",
            // Iterations slow those down who guess; nobody guesses 128 random bits.
            "--set=scram_iterations=1",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8");
    if (!initdb.well()) {
      Path log = Files.writeString(home.resolve("initdb.log"), initdb.output());
      throw new UnusableDatabase(
          "Postgres could not make its data directory in the home %s: %s (more in %s)"
              .formatted(home, PostgresBinaries.reason(initdb.output()), log));
    }
    Files.move(unfinished, data, StandardCopyOption.ATOMIC_MOVE);
  }

  String password() throws UnusableDatabase, IOException {
    try {
      return Files.readString(password).strip();
    } catch (NoSuchFileException missing) {
      throw new UnusableDatabase(
          "The password file " + password + " is missing: the data beside it can't be opened.",
          missing);
    }
  }

  /** The loopback port of the Postgres that runs here; empty while Postgres starts or stops. */
  OptionalInt port() throws IOException {
    try {
      // One line each: PID, directory, start, port, socket directory, address, shared memory,
      // state.
      List<String> lines = Files.readAllLines(data.resolve("postmaster.pid"));
      return lines.size() >= 8 && lines.get(7).strip().equals("ready")
          ? OptionalInt.of(Integer.parseInt(lines.get(3).strip()))
          : OptionalInt.empty();
    } catch (NoSuchFileException | MalformedInputException | NumberFormatException notRunning) {
      return OptionalInt.empty();
    }
  }

  /** The user ID of this process, read from a file that it creates in the folder. */
  static int currentUserNumber(Path folder) throws IOException {
    Path file = Files.createTempFile(folder, "user-", null);
    try {
      return userNumber(file);
    } finally {
      Files.delete(file);
    }
  }

  private static int userNumber(Path file) throws IOException {
    return (Integer) Files.getAttribute(file, "unix:uid");
  }

  private boolean exists() throws IOException {
    if (!Files.isDirectory(data)) {
      return false;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(data)) {
      return entries.iterator().hasNext();
    }
  }

  private int version() throws UnusableDatabase, IOException {
    try {
      return Integer.parseInt(Files.readString(data.resolve("PG_VERSION")).strip());
    } catch (NoSuchFileException | NumberFormatException unknown) {
      throw new UnusableDatabase(
          "The directory " + data + " is not empty and holds no Postgres data: move it away.",
          unknown);
    }
  }

  private static void endInitdbOf(Path unfinished) {
    ProcessHandle.allProcesses()
        .filter(process -> arguments(process).contains(INITDB_INTO + unfinished))
        .flatMap(initdb -> Stream.concat(initdb.descendants(), Stream.of(initdb)))
        .filter(ProcessHandle::destroyForcibly)
        .forEach(killed -> killed.onExit().join());
  }

  private static List<String> arguments(ProcessHandle process) {
    return List.of(process.info().arguments().orElse(new String[0]));
  }

  private void writePassword() throws IOException {
    byte[] secret = new byte[PASSWORD_BYTES];
    new SecureRandom().nextBytes(secret);
    Files.deleteIfExists(password);
    Files.createFile(
        password,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(
        password,
        HexFormat.of().formatHex(secret) + "\n",
        StandardOpenOption.WRITE,
        StandardOpenOption.SYNC);
  }

  /** Removes leftovers of interrupted starts, including a running initdb of a killed start. */
  private void sweep() throws IOException {
    try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(home, "data.new-*")) {
      for (Path leftover : leftovers) {
        endInitdbOf(leftover);
        FileTree.delete(leftover);
      }
    }
  }
}
