package dev.coatcheck.bench.speed;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.NewKey;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A database, an API key, and gateways on it, each in a process of its own. */
final class Gateways implements AutoCloseable {
  private static final int TRIES_MAX = 20;
  private static final long RETRY_MILLIS = 500;

  private static final Duration KEY_VALID = Duration.ofHours(4);

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final OpenDatabase opened;
  private final Path folder;
  private final String key;

  private Gateways(OpenDatabase opened, Path folder, String key) {
    this.opened = opened;
    this.folder = folder;
    this.key = key;
  }

  /**
   * Opens the database of the configuration, where the API key stays.
   *
   * @param folder for the homes of the gateways
   */
  static Gateways open(Config config, Path folder) throws StartFailed {
    Observer observer = new Observer();
    OpenDatabase opened = OpenDatabase.open(config, observer);
    ApiKeys keys = new ApiKeys(opened.database(), _ -> {}, Optional.empty(), new RandomSource());
    return new Gateways(opened, folder, created(keys).secretText());
  }

  private static ApiKey created(ApiKeys keys) {
    Rights all =
        new Rights(
            Set.of(Scope.ALL),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(Instant.now().plus(KEY_VALID)));
    NewKey wanted = new NewKey("bench", Optional.empty(), all);
    return switch (keys.create(wanted, Actor.operator())) {
      case KeyOutcome.Made(ApiKey key, _) -> key;
      case KeyOutcome refused -> throw new IllegalStateException("no API key: " + refused);
    };
  }

  DatabaseSettings database() {
    return opened.settings();
  }

  String key() {
    return key;
  }

  /**
   * Starts a gateway.
   *
   * @param cacheEntries how many mappings it may cache
   */
  GatewayProcess start(int cacheEntries) throws IOException {
    return start(cacheEntries, List.of());
  }

  /**
   * As above.
   *
   * @param before a command that starts the process; may be empty
   */
  GatewayProcess start(int cacheEntries, List<String> before) throws IOException {
    return GatewayProcess.start(
        Files.createTempDirectory(folder, "home"),
        opened.settings(),
        Map.of(Setting.CACHE_ENTRIES, Integer.toString(cacheEntries)),
        before);
  }

  /** Registers the type of all requests. */
  void register(URI gateway) throws IOException, InterruptedException {
    call(
        HttpRequest.newBuilder(gateway.resolve("/v1/types/" + Requests.TYPE))
            .header("Content-Type", "application/json")
            .PUT(HttpRequest.BodyPublishers.ofString(Requests.DEFINITION)));
  }

  /**
   * Sends a request with the API key, and returns the body of its answer. A busy machine may need
   * several tries.
   */
  String call(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpRequest authorized = request.header("Authorization", "Bearer " + key).build();
    HttpResponse<String> response = client.send(authorized, HttpResponse.BodyHandlers.ofString());
    for (int tried = 1; response.statusCode() == 503 && tried < TRIES_MAX; tried++) {
      Thread.sleep(RETRY_MILLIS);
      response = client.send(authorized, HttpResponse.BodyHandlers.ofString());
    }
    if (response.statusCode() >= 300) {
      throw new IllegalStateException(response.statusCode() + ": " + response.body());
    }
    return response.body();
  }

  @Override
  public void close() throws StartFailed {
    client.close();
    opened.close();
  }
}
