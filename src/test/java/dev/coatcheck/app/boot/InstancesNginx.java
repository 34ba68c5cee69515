package dev.coatcheck.app.boot;

import dev.coatcheck.CoatcheckProgram;
import dev.coatcheck.FreePort;
import dev.coatcheck.NginxProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * nginx with a master and workers, in front of several gateways, with the configuration that is
 * shipped. An instance is taken out and put back by the commands of {@code docs/operations.md}.
 */
final class InstancesNginx implements AutoCloseable {
  private static final Path SHIPPED = Path.of("docs", "edge", "instances.conf");
  private static final Path PAGE = Path.of("docs", "operations.md");

  private final List<String> commands = commands();
  private final NginxProcess nginx;

  InstancesNginx(Path folder, List<Integer> ports) throws IOException {
    int port = FreePort.next();
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
    String processes = (isRoot ? "user root; " : "") + "worker_processes 2;";
    this.nginx = new NginxProcess(folder, processes, port, configuration);
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
    return CoatcheckProgram.succeeds(NginxProcess.PROGRAM, "-v");
  }

  int port() {
    return nginx.port();
  }

  String log() {
    return nginx.log();
  }

  /** Sends no more to an instance, and waits until nothing of it is under way. */
  void takeOut(int instance) throws IOException, InterruptedException {
    run(instance, commands.getFirst());
    if (!Files.readString(nginx.site()).contains(instance + " down ")) {
      throw new AssertionError("not down");
    }
  }

  void putBack(int instance) throws IOException, InterruptedException {
    run(
        instance,
        commands.getFirst().lines().findFirst().orElseThrow() + "\n" + commands.getLast());
    if (Files.readString(nginx.site()).contains(" down ")) {
      throw new AssertionError("still down");
    }
  }

  private void run(int instance, String documented) throws IOException, InterruptedException {
    String script =
        documented
            .replace("/etc/nginx/conf.d/coatcheck-instances.conf", nginx.site().toString())
            .replace("10.0.0.11:8080", "127.0.0.1:" + instance)
            .replace("/run/nginx.pid", nginx.pid().toString())
            .replace("nginx -s", String.join(" ", nginx.command()) + " -s");
    Process shell =
        new ProcessBuilder("bash", "-euo", "pipefail", "-c", script)
            .redirectErrorStream(true)
            .start();
    String output = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (shell.waitFor() != 0) {
      throw new AssertionError(script + "\n" + output);
    }
  }

  @Override
  public void close() {
    nginx.close();
  }
}
