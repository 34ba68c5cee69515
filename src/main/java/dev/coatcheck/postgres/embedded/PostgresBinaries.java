package dev.coatcheck.postgres.embedded;

import dev.coatcheck.postgres.connection.UnusableDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The Postgres programs: unpacks them from our jars, unless they are there, and runs them. */
final class PostgresBinaries {
  static final int MAJOR_VERSION = 18;

  /** Names the folder of programs that came with the program; a release has one. */
  private static final String INSTALLED = "coatcheck.postgres";

  private final Optional<URL> archive;
  private final Path unpacked;
  private final boolean root;
  private final Set<Running> running = new HashSet<>();
  private boolean isUnpacking;
  private boolean isEnding;

  private record Running(String program, Process process) {}

  private PostgresBinaries(Optional<URL> archive, Path unpacked, boolean root) {
    this.archive = archive;
    this.unpacked = unpacked;
    this.root = root;
  }

  record Ended(int status, String output) {
    boolean well() {
      return status == 0;
    }
  }

  /**
   * The programs that are installed, or those below a folder, where {@link #unpack} puts them.
   *
   * @param root whether this process runs as root, which Postgres refuses; then every program
   *     starts in a user namespace, where the user has another ID
   */
  static PostgresBinaries below(Path folder, boolean root) throws UnusableDatabase, IOException {
    String installed = System.getProperty(INSTALLED);
    if (installed != null) {
      return new PostgresBinaries(Optional.empty(), Path.of(installed), root);
    }
    String name = archiveName();
    URL archive = PostgresBinaries.class.getResource(name);
    if (archive == null) {
      throw new UnusableDatabase(
          "There is no embedded Postgres for this machine (%s). coatcheck serve can use a Postgres of your own, by COATCHECK_DATABASE_URL."
              .formatted(name));
    }
    URLConnection connection = connection(archive);
    try (InputStream _ = connection.getInputStream()) {
      Path unpacked = folder.resolve(MAJOR_VERSION + "-" + connection.getContentLengthLong());
      return new PostgresBinaries(Optional.of(archive), unpacked, root);
    }
  }

  private static URLConnection connection(URL archive) throws IOException {
    URLConnection connection = archive.openConnection();
    connection.setUseCaches(false);
    return connection;
  }

  /** Unpacks the programs, unless that was done before or this process {@linkplain #end ends}. */
  void unpack() throws UnusableDatabase, IOException {
    synchronized (this) {
      requireNotEnding();
      isUnpacking = true;
    }
    try {
      if (archive.isPresent() && !Files.isDirectory(unpacked)) {
        try (InputStream packed = connection(archive.get()).getInputStream()) {
          PostgresArchive.unpackOnce(packed, unpacked, this);
        }
      }
    } finally {
      synchronized (this) {
        isUnpacking = false;
      }
    }
    if (root) {
      requireUserNamespaces();
    }
  }

  /** Runs a program to its end, unless this process {@linkplain #end ends}. */
  Ended run(String program, String... arguments) throws IOException {
    Running one;
    synchronized (this) {
      requireNotEnding();
      one = new Running(program, begin(command(program, arguments)));
      running.add(one);
    }
    try {
      return ended(program, one.process());
    } finally {
      synchronized (this) {
        running.remove(one);
        requireNotEnding();
      }
    }
  }

  /** Sends a signal to a Postgres process, also while this process ends. */
  void signal(String signal, long pid) throws IOException {
    Ended _ = runCommand(command("pg_ctl", "kill", signal, Long.toString(pid)));
  }

  /**
   * Called when this process ends: no further program starts, and no further file is unpacked. Ends
   * a running initdb; a running pg_ctl ends with its Postgres.
   */
  synchronized void end() {
    isEnding = true;
    running.stream()
        .filter(one -> one.program().equals("initdb"))
        .forEach(one -> one.process().destroy());
  }

  /** Whether a program runs, or they are being unpacked. */
  synchronized boolean isRunning() {
    return isUnpacking || running.stream().anyMatch(one -> one.process().isAlive());
  }

  synchronized void requireNotEnding() throws IOException {
    if (isEnding) {
      throw new IOException("this process was told to end");
    }
  }

  private List<String> command(String program, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(unpacked.resolve("bin").resolve(program).toString());
    command.addAll(List.of(arguments));
    return command;
  }

  /** The reason of a failure in the output: the last line with an error, else the last line. */
  static String reason(String output) {
    List<String> lines = output.lines().map(String::strip).filter(l -> !l.isEmpty()).toList();
    for (String line : lines.reversed()) {
      for (String mark : List.of("FATAL:", "PANIC:", "error:")) {
        int at = line.indexOf(mark);
        if (at >= 0) {
          return line.substring(at + mark.length()).strip();
        }
      }
    }
    return lines.isEmpty() ? "it said nothing" : lines.getLast();
  }

  private Ended runCommand(List<String> command) throws IOException {
    return ended(command.getFirst(), begin(command));
  }

  private Process begin(List<String> command) throws IOException {
    List<String> full = new ArrayList<>(root ? List.of("unshare", "--user") : List.of());
    full.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(full).redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    process.getOutputStream().close();
    return process;
  }

  private static Ended ended(String program, Process process) throws IOException {
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      return new Ended(process.waitFor(), output);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while running " + program, interrupted);
    }
  }

  private void requireUserNamespaces() throws UnusableDatabase {
    String reason;
    try {
      Ended ended = runCommand(List.of("true"));
      if (ended.well()) {
        return;
      }
      reason = reason(ended.output());
    } catch (IOException failure) {
      reason = String.valueOf(failure.getMessage());
    }
    throw new UnusableDatabase(
        "Postgres refuses to run as root, and this machine allows no user namespace ("
            + reason
            + "): run coatcheck as an ordinary user. coatcheck serve can also use a Postgres of"
            + " your own, by COATCHECK_DATABASE_URL.");
  }

  private static String archiveName() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String machine = System.getProperty("os.arch");
    return "/postgres-"
        + (system.startsWith("mac") ? "darwin" : system.replace(' ', '-'))
        + "-"
        + switch (machine) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64", "arm64" -> "arm_64";
          default -> machine;
        }
        + ".txz";
  }
}
