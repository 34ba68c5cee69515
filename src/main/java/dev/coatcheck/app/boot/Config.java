package dev.coatcheck.app.boot;

import dev.coatcheck.api.console.page.ConsoleMode;
import dev.coatcheck.api.server.Listener;
import dev.coatcheck.api.server.RateLimits;
import dev.coatcheck.api.server.TlsFiles;
import dev.coatcheck.cluster.lease.WorkerRanges;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * All settings, parsed and checked.
 *
 * @param database empty for the embedded Postgres in {@code home}
 * @param replica of the database; empty if all is read there
 * @param migrates whether a start applies the migrations of the schema, which its owner may do
 * @param accessStaleMax how long a cached API key is accepted while Postgres is unavailable
 * @param sources the databases of customers' tables by name, without the gateway's own
 * @param publicPort empty if links are on the gateway's port only
 * @param managementPort empty if health and metrics are on the gateway's port
 */
public record Config(
    String host,
    int port,
    OptionalInt publicPort,
    OptionalInt managementPort,
    Optional<TlsFiles> tls,
    Listener.Limits clients,
    RateLimits.Defaults limits,
    Path home,
    Optional<DatabaseSettings> database,
    Optional<DatabaseSettings> replica,
    boolean migrates,
    Concurrency concurrency,
    Map<String, DatabaseSettings> sources,
    RedirectHosts redirectHosts,
    Proxies trustedProxies,
    int cachedMappingsMax,
    Duration accessStaleMax,
    SealKeys sealKeys,
    LeaseLimits leases,
    ConsoleMode console) {
  /**
   * The workers that this instance may lease.
   *
   * @param windowSeconds how long keys can be minted during an outage
   */
  public record LeaseLimits(WorkerRanges workers, int windowSeconds) {}

  /** A configuration, or all its faults. */
  public sealed interface Parsed {
    record Valid(Config config) implements Parsed {}

    record Invalid(List<String> faults) implements Parsed {}
  }

  /** Parses every setting, and reports all faults at once. */
  public static Parsed read(Map<String, String> environment, Map<Setting, String> flags) {
    return new ConfigReader(environment, flags).read();
  }
}
