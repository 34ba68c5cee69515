package dev.coatcheck;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A gateway that the launcher of a release runs, on any free port. */
final class ReleasedGateway implements AutoCloseable {
  private static final String GREETING = "Coatcheck listens on ";
  private static final int SECONDS_MAX = 60;

  private final Process process;
  private final URI uri;
  private final Path log;

  private ReleasedGateway(Process process, URI uri, Path log) {
    this.process = process;
    this.uri = uri;
    this.log = log;
  }

  /** Waits until it listens. */
  static ReleasedGateway serve(Path launcher, Path directory, Map<String, String> environment)
      throws IOException {
    Path log = Files.createTempFile("coatcheck-released-", ".log");
    log.toFile().deleteOnExit();
    ProcessBuilder builder =
        new ProcessBuilder(launcher.toString(), "serve", "--port=0")
            .directory(directory.toFile())
            .redirectError(log.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    BufferedReader output = process.inputReader();
    List<String> said = new ArrayList<>();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      said.add(line);
      if (line.startsWith(GREETING)) {
        // Read on, so that it never waits for room in the pipe.
        Thread.ofVirtual().start(() -> output.lines().forEach(more -> {}));
        return new ReleasedGateway(process, URI.create(line.substring(GREETING.length())), log);
      }
    }
    throw new IOException("no gateway: " + said + Files.readString(log));
  }

  URI uri() {
    return uri;
  }

  /** What it logged so far. */
  List<String> log() throws IOException {
    return Files.readAllLines(log);
  }

  /** SIGTERM, and its end. */
  void stop() {
    process.destroy();
    try {
      if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("the gateway still runs");
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    stop();
  }
}
