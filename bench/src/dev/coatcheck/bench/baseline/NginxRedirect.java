package dev.coatcheck.bench.baseline;

import dev.coatcheck.bench.machine.ChildProcess;
import dev.coatcheck.bench.machine.CpuClock;
import dev.coatcheck.bench.machine.Tool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** An nginx that redirects whatever it is asked for: one process, which is its only worker. */
public final class NginxRedirect implements AutoCloseable {
  private static final Tool NGINX = Tool.named("nginx");
  private static final int START_MILLIS_MAX = 10_000;
  private static final int POLL_MILLIS = 20;

  private final Process process;
  private final InetSocketAddress address;

  private NginxRedirect(Process process, InetSocketAddress address) {
    this.process = process;
    this.address = address;
  }

  /** Starts one in an empty folder; none if there is no nginx, or it doesn't start. */
  public static Optional<NginxRedirect> start(Path folder, String location)
      throws IOException, InterruptedException {
    if (!NGINX.isInstalled()) {
      return Optional.empty();
    }
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
    Files.writeString(
        folder.resolve("nginx.conf"),
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log error.log;
        events { worker_connections 2048; }
        http {
          access_log off;
          keepalive_requests 1000000000;
          client_body_temp_path body;
          proxy_temp_path proxy;
          fastcgi_temp_path fastcgi;
          uwsgi_temp_path uwsgi;
          scgi_temp_path scgi;
          server {
            listen %s:%d;
            return 302 %s;
          }
        }
        """
            .formatted(address.getAddress().getHostAddress(), address.getPort(), location));
    Process process =
        ChildProcess.start(
            new ProcessBuilder(
                    NGINX.path().toString(),
                    "-p",
                    folder + "/",
                    "-c",
                    "nginx.conf",
                    "-e",
                    "error.log")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD));
    NginxRedirect nginx = new NginxRedirect(process, address);
    if (!nginx.listens()) {
      nginx.close();
      return Optional.empty();
    }
    return Optional.of(nginx);
  }

  public InetSocketAddress address() {
    return address;
  }

  /** Of its one worker. */
  public CpuClock cpu() {
    return CpuClock.ofProcess(process.pid());
  }

  @Override
  public void close() {
    ChildProcess.stop(process);
  }

  private boolean listens() throws InterruptedException {
    for (int waited = 0; waited < START_MILLIS_MAX; waited += POLL_MILLIS) {
      try (Socket socket = new Socket()) {
        socket.connect(address, START_MILLIS_MAX);
        return process.isAlive();
      } catch (IOException notYet) {
        if (process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
          return false;
        }
      }
    }
    return false;
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }
}
