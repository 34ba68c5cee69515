package dev.coatcheck.app.boot;

import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A gateway in a process of its own, as users run it, so that signals can be sent to it. */
final class GatewayChild implements AutoCloseable {
  private static final String GREETING = "Coatcheck listens on ";
  private static final int SECONDS_MAX = 300;
  private static final String HEAP = "128m";

  /** How a program ended, and what it said; logs go to standard output. */
  record Ended(int status, List<String> out, List<String> err) {}

  private final Process process;
  private final URI uri;

  private GatewayChild(Process process, URI uri) {
    this.process = process;
    this.uri = uri;
  }

  /** Starts {@code coatcheck serve} on any free port, and waits until it listens. */
  static GatewayChild serve(Path home) throws IOException {
    return serve(home, 0);
  }

  /** As above, on one port. */
  static GatewayChild serve(Path home, int port) throws IOException {
    return started(builder("serve", "--port=" + port, "--home=" + home));
  }

  /** On a Postgres that others use too. */
  static GatewayChild serve(TestDatabase database) throws IOException {
    return serve(database, HEAP, Map.of());
  }

  /** The same with further settings. */
  static GatewayChild serve(TestDatabase database, Map<String, String> settings)
      throws IOException {
    return serve(database, HEAP, settings);
  }

  /** With as much heap as {@code -Xmx} says, and further settings. Out of memory ends it. */
  static GatewayChild serve(TestDatabase database, String heap, Map<String, String> settings)
      throws IOException {
    return serve(database, 0, heap, settings);
  }

  /** On one port, so that the next one can take the place of this one. */
  static GatewayChild serve(TestDatabase database, int port) throws IOException {
    return serve(database, port, HEAP, Map.of());
  }

  private static GatewayChild serve(
      TestDatabase database, int port, String heap, Map<String, String> settings)
      throws IOException {
    ProcessBuilder builder = withHeap(heap, "serve", "--port=" + port);
    builder.environment().putAll(settings);
    builder
        .environment()
        .putAll(
            Map.of(
                "COATCHECK_DATABASE_URL", database.url(),
                "COATCHECK_DATABASE_USER", database.user(),
                "COATCHECK_DATABASE_PASSWORD", database.password(),
                "COATCHECK_DATABASE_CONNECTIONS", "4"));
    return started(builder);
  }

  /** With these settings; what it logs goes into a file. */
  static GatewayChild serveLogging(Path log, Map<String, String> settings) throws IOException {
    ProcessBuilder builder = builder("serve", "--port=0");
    builder.environment().putAll(settings);
    return greeted(builder.redirectError(log.toFile()));
  }

  private static GatewayChild started(ProcessBuilder builder) throws IOException {
    return greeted(builder.redirectError(ProcessBuilder.Redirect.INHERIT));
  }

  private static GatewayChild greeted(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    BufferedReader output = process.inputReader();
    List<String> said = new ArrayList<>();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      said.add(line);
      if (line.startsWith(GREETING)) {
        // Read on, so that the child never waits for room in the pipe.
        Thread.ofVirtual().start(() -> output.lines().forEach(more -> {}));
        return new GatewayChild(process, URI.create(line.substring(GREETING.length())));
      }
    }
    throw new IOException("the gateway did not start: " + said);
  }

  /** Starts a command and leaves it alone; what it says is lost. */
  static Process start(String... arguments) throws IOException {
    return builder(arguments)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  /** Runs a command to its end. */
  static Ended run(String... arguments) throws IOException, InterruptedException {
    Path out = Files.createTempFile("coatcheck", ".out");
    Path err = Files.createTempFile("coatcheck", ".err");
    try {
      Process process =
          builder(arguments).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
      if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("still runs: " + String.join(" ", arguments));
      }
      return new Ended(process.exitValue(), Files.readAllLines(out), Files.readAllLines(err));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }

  private static ProcessBuilder builder(String... arguments) {
    return withHeap(HEAP, arguments);
  }

  private static ProcessBuilder withHeap(String heap, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xmx" + heap,
            "-XX:+ExitOnOutOfMemoryError",
            "--enable-native-access=ALL-UNNAMED",
            "-Dorg.jooq.no-logo=true",
            "-Dorg.jooq.no-tips=true",
            // Not the one of the tests: what users see is part of what is tested.
            "-Dlogback.configurationFile=logback.xml",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.coatcheck.Main"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    return builder;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  URI uri() {
    return uri;
  }

  int port() {
    return uri.getPort();
  }

  /** SIGKILL: nothing of the gateway gets to run any more. */
  void kill() {
    process.destroyForcibly();
    await();
  }

  /**
   * SIGSTOP: it stands still in the middle of whatever it does, and believes that no time passes.
   */
  void freeze() throws IOException {
    signal("STOP");
  }

  /** SIGCONT. */
  void thaw() throws IOException {
    signal("CONT");
  }

  private void signal(String name) throws IOException {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().onExit().join();
  }

  /** SIGTERM. */
  void requestStop() {
    process.destroy();
  }

  /** SIGTERM, and the exit status that follows it. */
  int terminate() {
    requestStop();
    return endStatus();
  }

  /** Waits until it ends. */
  int endStatus() {
    await();
    return process.exitValue();
  }

  private void await() {
    try {
      if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
        throw new AssertionError("the gateway still runs");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException(interrupted));
    }
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      terminate();
    }
  }
}
