package dev.coatcheck.bench.machine;

import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** A gateway in a process of its own, with the options of the JVM that measures. */
public final class GatewayProcess implements AutoCloseable {
  /** The start of the line that names the address of a gateway. */
  public static final String GREETING = "Coatcheck listens on ";

  private static final Pattern SELECTING = Pattern.compile("ManagedSelector\\$?\\w*\\.select\\(");
  private static final int KIBI = 1024;

  private final Process process;
  private final URI url;
  private final OptionalInt selectors;

  private GatewayProcess(Process process, URI url, OptionalInt selectors) {
    this.process = process;
    this.url = url;
    this.selectors = selectors;
  }

  /**
   * Starts a gateway on any free port, and waits until it listens.
   *
   * @param settings beside port, home and database
   * @param before a command that starts the JVM, as {@code taskset -c 0}; may be empty
   */
  public static GatewayProcess start(
      Path home, DatabaseSettings database, Map<Setting, String> settings, List<String> before)
      throws IOException {
    ProcessBuilder builder =
        JavaProgram.named("dev.coatcheck.Main")
            .options(jvmOptions())
            .after(before)
            .builder(List.of("serve"))
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    environment.put(Setting.PORT.variable(), "0");
    environment.put(Setting.HOME.variable(), home.toString());
    environment.put(Setting.DATABASE_URL.variable(), database.url());
    environment.put(Setting.DATABASE_USER.variable(), database.user());
    environment.put(Setting.DATABASE_PASSWORD.variable(), database.password());
    settings.forEach((setting, value) -> environment.put(setting.variable(), value));
    GatewayProcess gateway = started(builder);
    return new GatewayProcess(gateway.process, gateway.url, selectors(gateway.process));
  }

  /**
   * Starts what greets as a gateway does, and waits until it listens.
   *
   * @throws MeasureFailed with what it printed, if it ends
   */
  public static GatewayProcess started(ProcessBuilder builder) throws IOException {
    Process process = ChildProcess.start(builder);
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    List<String> printed = new ArrayList<>();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      printed.add(line);
      if (line.startsWith(GREETING)) {
        // Read on, so that the gateway never waits for room in the pipe.
        Thread.ofVirtual().start(() -> readToEnd(output));
        URI url = URI.create(line.substring(GREETING.length()));
        return new GatewayProcess(process, url, OptionalInt.empty());
      }
    }
    throw new MeasureFailed("The gateway did not start: " + String.join("\n", printed));
  }

  private static void readToEnd(BufferedReader output) {
    try (output) {
      while (output.readLine() != null) {}
    } catch (IOException closed) {
      // With the end of the process, the stream may be closed before its end is read.
    }
  }

  /** Of the JVM that measures. */
  public static List<String> jvmOptions() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> !option.startsWith("-agentlib") && !option.startsWith("-javaagent"))
        .toList();
  }

  /** Counts the threads that wait for requests, before any has come. */
  private static OptionalInt selectors(Process process) {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (!Files.isExecutable(jcmd)) {
      return OptionalInt.empty();
    }
    String threads =
        Tool.output(List.of(jcmd.toString(), Long.toString(process.pid()), "Thread.print"));
    int count = 0;
    for (String thread : threads.split("\n\n", -1)) {
      count += SELECTING.matcher(thread).find() ? 1 : 0;
    }
    return count == 0 ? OptionalInt.empty() : OptionalInt.of(count);
  }

  public URI url() {
    return url;
  }

  /** Threads that read requests from their connections; empty where that isn't known. */
  public OptionalInt selectors() {
    return selectors;
  }

  public CpuClock cpu() {
    return CpuClock.ofProcess(process.pid());
  }

  /** Bytes of memory that the process holds at this moment; empty where that isn't known. */
  public OptionalLong residentBytes() {
    try {
      return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIBI)
          .findFirst();
    } catch (IOException gone) {
      return OptionalLong.empty();
    }
  }

  @Override
  public void close() {
    ChildProcess.stop(process);
  }
}
