package dev.coatcheck.app.boot;

import dev.coatcheck.api.console.page.ConsoleMode;
import dev.coatcheck.api.server.Listener;
import dev.coatcheck.api.server.RateLimits;
import dev.coatcheck.api.server.TlsFiles;
import dev.coatcheck.cluster.lease.WorkerRanges;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.registry.OnOutage;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Reads and checks every setting. An empty one counts as unset. */
final class ConfigReader {
  private static final Duration ACCESS_STALE_MAX = Duration.ofSeconds(60);
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,9}");

  private final Map<String, String> environment;
  private final Map<Setting, String> flags;
  private final List<String> faults = new ArrayList<>();

  /** Read once, because the file may be a pipe; for the replica, too. */
  private String databasePassword = "";

  ConfigReader(Map<String, String> environment, Map<Setting, String> flags) {
    this.environment = environment;
    this.flags = flags;
  }

  Config.Parsed read() {
    Config config = config();
    return faults.isEmpty()
        ? new Config.Parsed.Valid(config)
        : new Config.Parsed.Invalid(List.copyOf(faults));
  }

  private Config config() {
    Concurrency concurrency = concurrency();
    return new Config(
        host(),
        number(Setting.PORT, 0, 65_535).orElse(0),
        furtherPort(Setting.PUBLIC_PORT, Setting.PORT, Setting.MANAGEMENT_PORT),
        furtherPort(Setting.MANAGEMENT_PORT, Setting.PORT),
        tls(),
        new Listener.Limits(number(Setting.CONNECTIONS_MAX, 100, 100_000).orElse(0), selectors()),
        new RateLimits.Defaults(limit(Setting.LIMIT_KEY), limit(Setting.LIMIT_ADDRESS)),
        home(),
        database(concurrency.connections()),
        replica(),
        migrates(),
        concurrency,
        RegisteredSources.read(environment, faults),
        list(Setting.REDIRECT_HOSTS, RedirectHosts::parse, RedirectHosts.any(), "hosts"),
        list(Setting.TRUSTED_PROXIES, Proxies::parse, Proxies.none(), "addresses"),
        number(Setting.CACHE_ENTRIES, 0, 100_000_000).orElse(0),
        accessStaleMax(),
        sealKeys(),
        leases(),
        console());
  }

  private int selectors() {
    return number(Setting.SELECTORS, 1, 64)
        .orElse(Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, 64));
  }

  private Concurrency concurrency() {
    int connections = number(Setting.DATABASE_CONNECTIONS, 2, 100).orElse(100);
    Concurrency unset = Concurrency.of(connections);
    return new Concurrency(
        connections,
        groups(Setting.RESOLVE_GROUPS, connections).orElse(unset.resolveGroups()),
        groups(Setting.MINT_GROUPS, connections).orElse(unset.mintGroups()));
  }

  private OptionalInt groups(Setting setting, int connections) {
    OptionalInt groups = number(setting, 1, 100);
    if (groups.isPresent() && groups.getAsInt() > connections) {
      fault(
          setting,
          "must not exceed " + Setting.DATABASE_CONNECTIONS.variable() + ", " + connections);
    }
    return groups;
  }

  private Config.LeaseLimits leases() {
    WorkerRanges ranges =
        value(Setting.WORKERS)
            .map(text -> WorkerRanges.parse(text, what -> fault(Setting.WORKERS, what)))
            .orElseGet(WorkerRanges::unlimited);
    return new Config.LeaseLimits(
        value(Setting.REGION)
            .map(text -> ranges.inPlace(text, what -> fault(Setting.REGION, what)))
            .orElse(ranges),
        number(Setting.LEASE_WINDOW_SECONDS, 2, 60).orElse(0));
  }

  private Duration accessStaleMax() {
    String name = value(Setting.ACCESS_ON_OUTAGE).orElse("");
    Optional<OnOutage> onOutage = WireNamed.find(OnOutage.class, name);
    if (onOutage.isEmpty()) {
      fault(Setting.ACCESS_ON_OUTAGE, "must be serve_stale or refuse");
    }
    return onOutage.equals(Optional.of(OnOutage.SERVE_STALE)) ? ACCESS_STALE_MAX : Duration.ZERO;
  }

  private SealKeys sealKeys() {
    Optional<Path> file = path(Setting.SEAL_KEYS_FILE);
    return switch (file.map(SealKeys::read)
        .orElseGet(() -> new SealKeys.Parsed.Valid(SealKeys.NONE))) {
      case SealKeys.Parsed.Valid(SealKeys keys) -> keys;
      case SealKeys.Parsed.Faulty(String what) -> {
        fault(Setting.SEAL_KEYS_FILE, "can't be used: " + what);
        yield SealKeys.NONE;
      }
    };
  }

  private ConsoleMode console() {
    return value(Setting.CONSOLE)
        .flatMap(ConsoleMode::named)
        .orElseGet(
            () -> {
              fault(Setting.CONSOLE, "must be off, read-only or on");
              return ConsoleMode.OFF;
            });
  }

  /** In brackets if it is an IPv6 address, as URLs require. */
  private String host() {
    String host = value(Setting.HOST).orElse("");
    return host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
  }

  private OptionalInt furtherPort(Setting setting, Setting... others) {
    OptionalInt port = number(setting, 0, 65_535);
    for (Setting other : others) {
      if (port.isPresent() && port.getAsInt() != 0 && port.equals(number(other, 0, 65_535))) {
        fault(setting, "is the same as " + other.variable());
      }
    }
    return port;
  }

  private Optional<RateLimit> limit(Setting setting) {
    Optional<RateLimit> limit = value(setting).flatMap(RateLimit::parse);
    if (limit.isEmpty() && value(setting).isPresent()) {
      fault(
          setting,
          "must be requests/seconds, as 1000/1: 1 to %d requests in 1 to %d seconds"
              .formatted(RateLimit.REQUESTS_MAX, RateLimit.SECONDS_MAX));
    }
    return limit;
  }

  private Optional<TlsFiles> tls() {
    Optional<Path> certificate = path(Setting.TLS_CERTIFICATE_FILE);
    Optional<Path> key = path(Setting.TLS_KEY_FILE);
    if (certificate.isPresent() != key.isPresent()) {
      Setting missing = key.isPresent() ? Setting.TLS_CERTIFICATE_FILE : Setting.TLS_KEY_FILE;
      Setting present = key.isPresent() ? Setting.TLS_KEY_FILE : Setting.TLS_CERTIFICATE_FILE;
      fault(missing, "is needed beside " + present.variable());
    }
    Optional<TlsFiles> files =
        certificate.flatMap(first -> key.map(second -> new TlsFiles(first, second)));
    if (files.isPresent()
        && files.get().read()
            instanceof TlsFiles.Read.Faulty(List<String> ofCertificate, List<String> ofKey)) {
      ofCertificate.forEach(what -> fault(Setting.TLS_CERTIFICATE_FILE, what));
      ofKey.forEach(what -> fault(Setting.TLS_KEY_FILE, what));
    }
    return files;
  }

  private Optional<Path> path(Setting setting) {
    try {
      return value(setting).map(Path::of);
    } catch (InvalidPathException odd) {
      fault(setting, "is not a path");
      return Optional.empty();
    }
  }

  private Path home() {
    return path(Setting.HOME).orElse(Path.of(""));
  }

  private Optional<DatabaseSettings> database(int connectionsMax) {
    Optional<String> url = value(Setting.DATABASE_URL);
    Optional<String> user = value(Setting.DATABASE_USER);
    if (url.isEmpty()) {
      for (Setting setting :
          List.of(
              Setting.DATABASE_USER, Setting.DATABASE_PASSWORD, Setting.DATABASE_PASSWORD_FILE)) {
        if (value(setting).isPresent()) {
          fault(setting, "is set, but COATCHECK_DATABASE_URL is not");
        }
      }
      return Optional.empty();
    }
    databasePassword = databasePassword();
    DatabaseUrl.fault(url.get(), Setting.DATABASE_PASSWORD.variable())
        .ifPresent(what -> fault(Setting.DATABASE_URL, what));
    if (user.isEmpty()) {
      fault(Setting.DATABASE_USER, "is needed beside COATCHECK_DATABASE_URL");
    }
    return Optional.of(
        new DatabaseSettings(url.get(), user.orElse(""), databasePassword, connectionsMax));
  }

  /** It has the users of the database. */
  private Optional<DatabaseSettings> replica() {
    int connections = number(Setting.DATABASE_REPLICA_CONNECTIONS, 1, 100).orElse(1);
    Optional<String> url = value(Setting.DATABASE_REPLICA_URL);
    if (url.isEmpty()) {
      return Optional.empty();
    }
    Optional<String> primary = value(Setting.DATABASE_URL);
    if (primary.isEmpty()) {
      fault(Setting.DATABASE_REPLICA_URL, "is set, but COATCHECK_DATABASE_URL is not");
    }
    DatabaseUrl.fault(url.get(), Setting.DATABASE_PASSWORD.variable())
        .ifPresent(what -> fault(Setting.DATABASE_REPLICA_URL, what));
    if (url.equals(primary)) {
      fault(Setting.DATABASE_REPLICA_URL, "is the same as COATCHECK_DATABASE_URL");
    }
    return Optional.of(
        new DatabaseSettings(
            url.get(), value(Setting.DATABASE_USER).orElse(""), databasePassword, connections));
  }

  private boolean migrates() {
    String text = value(Setting.MIGRATE).orElse("");
    if (!Set.of("true", "false").contains(text)) {
      fault(Setting.MIGRATE, "must be true or false");
    }
    return text.equals("true");
  }

  private String databasePassword() {
    Optional<String> password = value(Setting.DATABASE_PASSWORD);
    Optional<Path> file = path(Setting.DATABASE_PASSWORD_FILE);
    if (file.isEmpty()) {
      return password.orElse("");
    }
    if (password.isPresent()) {
      fault(
          Setting.DATABASE_PASSWORD_FILE,
          "and " + Setting.DATABASE_PASSWORD.variable() + " are both set: unset one");
      return "";
    }
    return switch (PasswordFile.read(file.get())) {
      case PasswordFile.Read(String secret) -> secret;
      case PasswordFile.Refused(String why) -> {
        fault(Setting.DATABASE_PASSWORD_FILE, why);
        yield "";
      }
    };
  }

  private <T> T list(Setting setting, Function<String, T> parse, T unset, String elements) {
    try {
      return value(setting).map(parse).orElse(unset);
    } catch (IllegalArgumentException odd) {
      fault(setting, "is a comma list of " + elements + ": " + odd.getMessage());
      return unset;
    }
  }

  private OptionalInt number(Setting setting, int least, int most) {
    Optional<String> text = value(setting);
    if (text.isEmpty()) {
      return OptionalInt.empty();
    }
    if (NUMBER.matcher(text.get()).matches()) {
      int number = Integer.parseInt(text.get());
      if (number >= least && number <= most) {
        return OptionalInt.of(number);
      }
    }
    fault(setting, "must be a number from " + least + " to " + most);
    return OptionalInt.empty();
  }

  /** An empty variable counts as unset, because Compose passes unset variables as empty. */
  private Optional<String> value(Setting setting) {
    return Optional.ofNullable(flags.get(setting))
        .or(() -> Optional.ofNullable(environment.get(setting.variable())))
        .filter(text -> !text.isEmpty())
        .or(setting::otherwise);
  }

  private void fault(Setting setting, String what) {
    String flag = setting.isSecret() ? "" : " (" + setting.flag() + ")";
    String line = setting.variable() + flag + " " + what;
    if (!faults.contains(line)) {
      faults.add(line);
    }
  }
}
