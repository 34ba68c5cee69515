package dev.coatcheck.api.routes;

import dev.coatcheck.FreePort;
import dev.coatcheck.NginxProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * A real nginx: with the configuration that is shipped, only its CHANGE lines changed, or as a
 * cache.
 */
final class Nginx implements AutoCloseable {
  private static final Path SHIPPED = Path.of("docs", "edge", "nginx.conf");

  private final NginxProcess nginx;

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
    int port = FreePort.next();
    this.nginx = new NginxProcess(folder, "master_process off;", port, configuration.apply(port));
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
          new ProcessBuilder(NginxProcess.PROGRAM, "-V")
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
    return nginx.port();
  }

  String log() {
    return nginx.log();
  }

  private static String shipped(Map<String, String> changes) {
    String text;
    try {
      text = Files.readString(SHIPPED);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
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
    nginx.close();
  }
}
