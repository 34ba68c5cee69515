package dev.coatcheck.app.boot;

import dev.coatcheck.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * nginx with a master and workers, in front of several gateways, with the configuration that is
 * shipped. An instance is taken out and put back by the commands of {@code docs/operations.md}.
 */
final class InstancesNginx implements AutoCloseable {
  private static final Path SHIPPED = Path.of("docs", "edge", "instances.conf");
  private static final Path PAGE = Path.of("docs", "operations.md");

  /** Debian's lies where the PATH of an ordinary user doesn't lead. */
  private static final String PROGRAM =
      Stream.of("/usr/sbin/nginx", "/usr/local/sbin/nginx")
          .filter(file -> Files.isExecutable(Path.of(file)))
          .findFirst()
          .orElse("nginx");

  /** What a distribution's nginx.conf does around conf.d, in a folder of its own. */
  private static final String AROUND =
      """
      daemon off;
      <user>
      worker_processes 2;
      pid nginx.pid;
      error_log error.log info;
      events { worker_connections 2048; }
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        include instances.conf;
      }
      """;

  private final Path folder;
  private final int port = FreePort.next();
  private final Process process;
  private final List<String> commands;

  InstancesNginx(Path folder, List<Integer> ports) throws IOException {
    this.folder = folder;
    String configuration =
        Files.readString(SHIPPED)
            .replace("listen 127.0.0.1:8000;", "listen 127.0.0.1:%d;".formatted(port));
    for (int i = 0; i < ports.size(); i++) {
      configuration =
          configuration.replace(
              "server 127.0.0.1:%d ".formatted(8081 + i),
              "server 127.0.0.1:%d ".formatted(ports.get(i)));
    }
    if (configuration.contains("127.0.0.1:80")) {
      throw new AssertionError(SHIPPED + " has other lines to change: " + configuration);
    }
    // As root the workers would be another user, who may not enter the folder.
    boolean isRoot = "root".equals(System.getProperty("user.name"));
    Files.writeString(
        folder.resolve("nginx.conf"), AROUND.replace("<user>", isRoot ? "user root;" : ""));
    Files.writeString(folder.resolve("instances.conf"), configuration);
    this.commands = commands();
    this.process = new ProcessBuilder(nginx()).inheritIO().start();
    Awaitility.await("nginx listens").until(this::listens);
  }

  /** Of a section: to take an instance out, and to put it back. */
  private static List<String> commands() throws IOException {
    String page = Files.readString(PAGE);
    String section = page.substring(page.indexOf("\n## A rolling restart\n"));
    Matcher blocks =
        Pattern.compile("\n   ```sh\n(.*?)\n   ```", Pattern.DOTALL)
            .matcher(section.substring(0, section.indexOf("\n## ", 1)));
    return blocks.results().map(block -> block.group(1)).toList();
  }

  static boolean isInstalled() {
    try {
      return new ProcessBuilder(PROGRAM, "-v")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException absent) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private String[] nginx() {
    return new String[] {PROGRAM, "-p", folder + "/", "-c", "nginx.conf", "-e", "error.log"};
  }

  int port() {
    return port;
  }

  String log() throws IOException {
    return Files.readString(folder.resolve("error.log"));
  }

  /** Sends no more to an instance, and waits until nothing of it is under way. */
  void takeOut(int instance) throws IOException, InterruptedException {
    run(instance, commands.getFirst());
    if (!Files.readString(folder.resolve("instances.conf")).contains(instance + " down ")) {
      throw new AssertionError("not down");
    }
  }

  void putBack(int instance) throws IOException, InterruptedException {
    run(
        instance,
        commands.getFirst().lines().findFirst().orElseThrow() + "\n" + commands.getLast());
    if (Files.readString(folder.resolve("instances.conf")).contains(" down ")) {
      throw new AssertionError("still down");
    }
  }

  private void run(int instance, String documented) throws IOException, InterruptedException {
    String script =
        documented
            .replace(
                "/etc/nginx/conf.d/coatcheck-instances.conf",
                folder.resolve("instances.conf").toString())
            .replace("10.0.0.11:8080", "127.0.0.1:" + instance)
            .replace("/run/nginx.pid", folder.resolve("nginx.pid").toString())
            .replace("nginx -s", String.join(" ", nginx()) + " -s");
    Process shell =
        new ProcessBuilder("bash", "-euo", "pipefail", "-c", script)
            .redirectErrorStream(true)
            .start();
    String output = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (shell.waitFor() != 0) {
      throw new AssertionError(script + "\n" + output);
    }
  }

  private boolean listens() throws IOException {
    if (!process.isAlive()) {
      throw new AssertionError("nginx ended: " + log());
    }
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
