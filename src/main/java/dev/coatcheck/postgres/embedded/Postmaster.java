package dev.coatcheck.postgres.embedded;

import dev.coatcheck.postgres.connection.UnusableDatabase;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The Postgres process of one data directory, started by this instance or an earlier one.
 *
 * <p>It is identified by the {@code -D} of its command line, not by the PID in {@code
 * postmaster.pid}: that may be garbage, a zombie, or by now another process.
 */
final class Postmaster {
  private static final int START_ATTEMPTS_MAX = 10;
  private static final Duration PAUSE_BETWEEN_ATTEMPTS = Duration.ofMillis(500);
  private static final Duration POLL = Duration.ofMillis(10);
  private static final Duration PROGRAM_END_MAX = Duration.ofSeconds(20);

  /** After a crash Postgres first replays its log; {@code pg_ctl} sees if it ends before. */
  private static final int READY_SECONDS_MAX = 3_600;

  private static final int LONG_SECONDS = 30;

  private static final String SETTINGS =
      String.join(
          " -c ",
          "",
          "listen_addresses=127.0.0.1",
          "unix_socket_directories=''",
          "max_connections=150",
          "fsync=on",
          "synchronous_commit=on",
          "full_page_writes=on",
          "timezone=UTC",
          "log_timezone=UTC",
          // Without errors of statements, which the gateway reports.
          "log_min_messages=log",
          "log_checkpoints=off");

  private final PostgresBinaries binaries;
  private final Path data;

  Postmaster(PostgresBinaries binaries, Path data) {
    this.binaries = binaries;
    this.data = data;
  }

  /**
   * Starts Postgres and waits until it accepts connections. {@link #stop} must have been called
   * before.
   *
   * <p>{@code pg_ctl} gives Postgres a session of its own. So Ctrl-C in the terminal reaches only
   * the gateway, which then stops its Postgres last.
   *
   * @return the loopback port
   */
  int start(Path log) throws UnusableDatabase, IOException {
    // If no process of ours belongs to it, the pid file is stale. Postgres would check only whether
    // any process has that PID. Its own check for attached shared memory still applies.
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
        throw new UnusableDatabase("Postgres did not start: " + reason + " (more in " + log + ")");
      }
      pause(PAUSE_BETWEEN_ATTEMPTS);
    }
  }

  /**
   * Stops Postgres, with a fast shutdown first. Open transactions are rolled back, committed ones
   * kept. Does nothing if Postgres doesn't run.
   */
  void stop() throws UnusableDatabase, IOException {
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
      throw new UnusableDatabase(
          "Postgres process " + pid + " holds " + data + " and can't be stopped.");
    }
  }

  /** Stops Postgres and a running start, because this process ends. Our programs get 20 s. */
  void end() throws UnusableDatabase, IOException {
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
    CompletableFuture<Void> word =
        CompletableFuture.runAsync(
            () -> System.err.println("Postgres repairs its data after a crash; " + log + " tells."),
            CompletableFuture.delayedExecutor(LONG_SECONDS, TimeUnit.SECONDS));
    try {
      return binaries.run(
          "pg_ctl",
          "start",
          "--pgdata=" + data,
          "--log=" + log,
          "--wait",
          "--timeout=" + READY_SECONDS_MAX,
          "--options=-p " + port + SETTINGS);
    } finally {
      word.cancel(false);
    }
  }

  /** Whether a retry may help: the port was taken meanwhile, or old backends still end. */
  private static boolean passes(String reason) {
    return reason.contains("could not create any TCP/IP sockets")
        || reason.contains("pre-existing shared memory block");
  }

  private static int freeLoopbackPort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      return probe.getLocalPort();
    }
  }

  /** False for a zombie too, which has no command line. */
  private boolean isOurs(ProcessHandle process) {
    ProcessHandle.Info info = process.info();
    List<String> arguments = List.of(info.arguments().orElse(new String[0]));
    int flag = arguments.indexOf("-D");
    return flag >= 0
        && flag + 1 < arguments.size()
        && isPostgres(info.command().orElse(""))
        && isOurData(arguments.get(flag + 1));
  }

  /** A program file that was replaced since the start is shown as {@code postgres (deleted)}. */
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
