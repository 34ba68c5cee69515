package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Output;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
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
  public Integer call() throws CommandFailed, InterruptedException {
    Config config = settings.config();
    String host = EVERY_ADDRESS.contains(config.host()) ? "127.0.0.1" : config.host();
    URI ready = URI.create("http://" + host + ":" + config.port() + "/health/ready");
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(WAIT).build()) {
      HttpResponse<Void> response =
          client.send(
              HttpRequest.newBuilder(ready).timeout(WAIT).build(),
              HttpResponse.BodyHandlers.discarding());
      if (response.statusCode() == 200) {
        output.print(Output.object(Map.of("status", "ready")), _ -> {});
        return 0;
      }
      throw new CommandFailed("not ready: " + ready + " answers " + response.statusCode() + ".");
    } catch (IOException broken) {
      throw new CommandFailed("no gateway answers at " + ready + ".");
    }
  }
}
