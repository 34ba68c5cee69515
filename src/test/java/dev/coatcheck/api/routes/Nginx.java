package dev.coatcheck.api.routes;

import dev.coatcheck.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A real nginx: with the configuration that is shipped, only its CHANGE lines changed, or as a
 * cache.
 */
final class Nginx implements AutoCloseable {
  /** Debian's lies where the PATH of an ordinary user doesn't lead. */
  private static final String PROGRAM =
      Stream.of("/usr/sbin/nginx", "/usr/local/sbin/nginx")
          .filter(file -> Files.isExecutable(Path.of(file)))
          .findFirst()
          .orElse("nginx");

  private static final Path SHIPPED = Path.of("docs", "edge", "nginx.conf");

  /** What a distribution's nginx.conf does around conf.d, in a folder of its own. */
  private static final String AROUND =
      """
      daemon off;
      master_process off;
      pid nginx.pid;
      error_log error.log info;
      events { worker_connections 64; }
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        include edge.conf;
      }
      """;

  private final Path folder;
  private final int port = FreePort.next();
  private final Process process;

  /**
   * Starts one that asks Coatcheck at one port, with an API key, and passes on to another.
   *
   * @param legacy what happens to URIs with legacy IDs: resolve or redirect
   */
  Nginx(Path folder, int coatcheckPort, String apiKey, int servicePort, String legacy) {
    this(
        folder,
        port ->
            shipped(
                Map.of(
                    "server 127.0.0.1:8080;", "server 127.0.0.1:" + coatcheckPort + ";",
                    "server 127.0.0.1:3000;", "server 127.0.0.1:" + servicePort + ";",
                    "listen 127.0.0.1:8000;", "listen 127.0.0.1:" + port + ";",
                    "ccg_live_CHANGE_ME", apiKey,
                    "X-Coatcheck-Legacy resolve;", "X-Coatcheck-Legacy " + legacy + ";")));
  }

  /**
   * @param configuration for the port to listen at
   */
  private Nginx(Path folder, IntFunction<String> configuration) {
    this.folder = folder;
    try {
      Files.writeString(folder.resolve("nginx.conf"), AROUND);
      Files.writeString(folder.resolve("edge.conf"), configuration.apply(port));
      process =
          new ProcessBuilder(PROGRAM, "-p", folder + "/", "-c", "nginx.conf", "-e", "error.log")
              .inheritIO()
              .start();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    Awaitility.await("nginx listens").pollInterval(Duration.ofMillis(20)).until(this::listens);
  }

  /** A cache that keeps every answer of a gateway, whatever Cache-Control says. */
  static Nginx cache(Path folder, int coatcheckPort) {
    return new Nginx(
        folder,
        port ->
            """
            proxy_cache_path cache keys_zone=links:1m;
            server {
              listen 127.0.0.1:%d;
              location / {
                proxy_pass http://127.0.0.1:%d;
                proxy_http_version 1.1;
                proxy_cache links;
                proxy_cache_valid any 1h;
                proxy_ignore_headers Cache-Control;
                add_header Cache-Status $upstream_cache_status always;
              }
            }
            """
                .formatted(port, coatcheckPort));
  }

  /** Whether there is one, and it has the module that asks. */
  static boolean isInstalled() {
    try {
      Process version =
          new ProcessBuilder(PROGRAM, "-V")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.PIPE)
              .start();
      String says = new String(version.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return version.waitFor() == 0 && says.contains("http_auth_request_module");
    } catch (IOException absent) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  int port() {
    return port;
  }

  String log() {
    return read(folder.resolve("error.log"));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private boolean listens() {
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

  private static String shipped(Map<String, String> changes) {
    String text = read(SHIPPED);
    for (Map.Entry<String, String> change : changes.entrySet()) {
      if (!text.contains(change.getKey())) {
        throw new AssertionError(SHIPPED + " has no " + change.getKey());
      }
      text = text.replace(change.getKey(), change.getValue());
    }
    return text;
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
