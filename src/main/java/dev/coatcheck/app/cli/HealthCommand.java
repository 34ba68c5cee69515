package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.CoatcheckException;
import dev.coatcheck.client.GatewayRequest;
import java.net.Socket;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code coatcheck health}: for health checks in containers without curl. */
@Command(
    name = "health",
    description =
        "Checks whether the gateway on this machine is ready; exits with 0 if it is ready.",
    footer = "  coatcheck health")
final class HealthCommand implements Callable<Integer> {
  private static final Duration WAIT = Duration.ofSeconds(3);

  private static final Set<String> EVERY_ADDRESS = Set.of("0.0.0.0", "::", "[::]");

  @Mixin private Settings settings = new Settings();
  @Mixin private Output output = new Output();

  @Override
  public Integer call() throws CommandFailed {
    Config config = settings.config();
    String host = EVERY_ADDRESS.contains(config.host()) ? "127.0.0.1" : config.host();
    String scheme = config.tls().isPresent() ? "https" : "http";
    URI gateway = URI.create(scheme + "://" + host + ":" + config.port());
    CoatcheckClient client =
        CoatcheckClient.builder(gateway)
            .tls(trustingAnybody())
            .connectTimeout(WAIT)
            .deadline(WAIT)
            .triesMax(1)
            .build();
    try {
      int status = client.call(GatewayRequest.of("GET", "/health/ready")).status();
      if (status == 200) {
        output.print(Map.of("status", "ready"), _ -> {});
        return 0;
      }
      throw new CommandFailed("not ready: " + gateway + " answers " + status + ".");
    } catch (CoatcheckException failed) {
      throw new CommandFailed("no gateway answers at " + gateway + ".");
    }
  }

  /**
   * The certificate is for the name by which clients know the gateway, not for this machine's
   * address. The question holds no secret, and the answer decides only about this process.
   */
  private static SSLContext trustingAnybody() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new Anybody()}, null);
      return context;
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no TLS", missing);
    }
  }

  private static final class Anybody extends X509ExtendedTrustManager {
    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
