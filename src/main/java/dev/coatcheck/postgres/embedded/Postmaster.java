package dev.coatcheck.postgres.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The Postgres process of one data directory, started by this instance or an earlier one.
 *
 * <p>It is known by the {@code -D} of its command line and never by the number in {@code
 * postmaster.pid}, which may be garbage, a zombie, or by now someone else's process.
 */
final class Postmaster {
  private static final int START_ATTEMPTS_MAX = 10;
  private static final Duration PAUSE_BETWEEN_ATTEMPTS = Duration.ofMillis(500);
  private static final Duration POLL = Duration.ofMillis(10);
  private static final Duration PROGRAM_END_MAX = Duration.ofSeconds(20);
  private static final int READY_SECONDS_MAX = 120;

  private static final String SETTINGS =
      String.join(
          " -c ",
          "",
          "listen_addresses=127.0.0.1",
          "unix_socket_directories=''",
          "max_connections=100",
          "fsync=on",
          "synchronous_commit=on",
          "full_page_writes=on",
          "timezone=UTC",
          "log_timezone=UTC",
          // Not the errors of statements: the gateway reports those.
          "log_min_messages=log",
          "log_checkpoints=off");

  private final PostgresBinaries binaries;
  private final Path data;

  Postmaster(PostgresBinaries binaries, Path data) {
    this.binaries = binaries;
    this.data = data;
  }

  /**
   * Starts it and waits until it takes connections, after {@link #stop}.
   *
   * <p>{@code pg_ctl} gives it a session of its own, so that Ctrl-C in the terminal reaches only
   * the gateway, which then ends its Postgres last.
   *
   * @return the loopback port it listens on
   */
  int start(Path log) throws EmbeddedDatabaseFailed, IOException {
    // With no process of ours behind it, a pid file is stale. Postgres would ask only whether any
    // process has that number now. Its own check for attached shared memory stays in force.
    Files.deleteIfExists(data.resolve("postmaster.pid"));
    if (Files.exists(log)) {
      Files.move(
          log, log.resolveSibling(log.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
    }
    for (int attempt = 1; ; attempt++) {
      int port = freeLoopbackPort();
      PostgresBinaries.Ended ended = startOn(port, log);
      if (ended.well()) {
        return port;
      }
      stop();
      String reason =
          PostgresBinaries.reason(Files.exists(log) ? Files.readString(log) : ended.output());
      if (attempt == START_ATTEMPTS_MAX || !passes(reason)) {
        throw new EmbeddedDatabaseFailed(
            "Postgres did not start: " + reason + " (more in " + log + ")");
      }
      pause(PAUSE_BETWEEN_ATTEMPTS);
    }
  }

  /**
   * Ends it, politely first. Open transactions are rolled back, committed ones kept. Does nothing
   * if it doesn't run.
   */
  void stop() throws EmbeddedDatabaseFailed, IOException {
    Optional<ProcessHandle> running = find();
    if (running.isEmpty()) {
      return;
    }
    long pid = running.get().pid();
    boolean gone =
        endsOn("INT", pid, Duration.ofSeconds(30))
            || endsOn("QUIT", pid, Duration.ofSeconds(10))
            || endsOn("KILL", pid, Duration.ofSeconds(10));
    if (!gone) {
      throw new EmbeddedDatabaseFailed(
          "Postgres process " + pid + " holds " + data + " and can't be stopped.");
    }
  }

  /**
   * Ends it, and what starts it, because this process ends: a program of ours has 20 s for that.
   */
  void end() throws EmbeddedDatabaseFailed, IOException {
    binaries.end();
    long endNano = System.nanoTime() + PROGRAM_END_MAX.toNanos();
    while (binaries.isRunning() && System.nanoTime() - endNano < 0) {
      stop();
      pause(POLL);
    }
    stop();
  }

  Optional<ProcessHandle> find() {
    return ProcessHandle.allProcesses().filter(this::isOurs).findFirst();
  }

  private PostgresBinaries.Ended startOn(int port, Path log) throws IOException {
    return binaries.run(
        "pg_ctl",
        "start",
        "--pgdata=" + data,
        "--log=" + log,
        "--wait",
        "--timeout=" + READY_SECONDS_MAX,
        "--options=-p " + port + SETTINGS);
  }

  /** Whether the reason goes away: the port was taken meanwhile, or old backends are dying. */
  private static boolean passes(String reason) {
    return reason.contains("could not create any TCP/IP sockets")
        || reason.contains("pre-existing shared memory block");
  }

  private static int freeLoopbackPort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      return probe.getLocalPort();
    }
  }

  /** False for a zombie too, which has no command line any more. */
  private boolean isOurs(ProcessHandle process) {
    ProcessHandle.Info info = process.info();
    List<String> arguments = List.of(info.arguments().orElse(new String[0]));
    int flag = arguments.indexOf("-D");
    return flag >= 0
        && flag + 1 < arguments.size()
        && isPostgres(info.command().orElse(""))
        && isOurData(arguments.get(flag + 1));
  }

  /** A program file replaced since the start is shown as {@code postgres (deleted)}. */
  private static boolean isPostgres(String command) {
    return command.substring(command.lastIndexOf('/') + 1).startsWith("postgres");
  }

  private boolean isOurData(String argument) {
    try {
      Path path = Path.of(argument);
      return path.isAbsolute() && Files.isSameFile(path, data);
    } catch (InvalidPathException | IOException elsewhere) {
      return false;
    }
  }

  private boolean endsOn(String signal, long pid, Duration patience) throws IOException {
    binaries.signal(signal, pid);
    long end = System.nanoTime() + patience.toNanos();
    while (ProcessHandle.of(pid).filter(this::isOurs).isPresent()) {
      if (System.nanoTime() - end > 0) {
        return false;
      }
      pause(POLL);
    }
    return true;
  }

  private static void pause(Duration time) throws IOException {
    try {
      Thread.sleep(time);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for Postgres", interrupted);
    }
  }
}
