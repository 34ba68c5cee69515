package dev.coatcheck;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A real nginx in a folder of its own. */
public final class NginxProcess implements AutoCloseable {
  /** Debian's lies where the PATH of an ordinary user doesn't lead. */
  public static final String PROGRAM =
      Stream.of("/usr/sbin/nginx", "/usr/local/sbin/nginx")
          .filter(file -> Files.isExecutable(Path.of(file)))
          .findFirst()
          .orElse("nginx");

  /** What a distribution's nginx.conf does around conf.d. */
  private static final String AROUND =
      """
      daemon off;
      <processes>
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
        include site.conf;
      }
      """;

  private final Path folder;
  private final int port;
  private final Process process;

  /**
   * Starts it, and waits until it listens.
   *
   * @param processes directives about its master and workers
   * @param port of the site
   */
  public NginxProcess(Path folder, String processes, int port, String site) {
    this.folder = folder;
    this.port = port;
    try {
      Files.writeString(folder.resolve("nginx.conf"), AROUND.replace("<processes>", processes));
      Files.writeString(site(), site);
      this.process = new ProcessBuilder(command()).inheritIO().start();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    Awaitility.await("nginx listens").pollInterval(Duration.ofMillis(20)).until(this::listens);
  }

  public String[] command() {
    return new String[] {PROGRAM, "-p", folder + "/", "-c", "nginx.conf", "-e", "error.log"};
  }

  /** The file with the configuration of the site. */
  public Path site() {
    return folder.resolve("site.conf");
  }

  public Path pid() {
    return folder.resolve("nginx.pid");
  }

  public int port() {
    return port;
  }

  public String log() {
    try {
      return Files.readString(folder.resolve("error.log"));
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
