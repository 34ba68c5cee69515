package dev.coatcheck.migrate.source;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.Database;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The gateway's own database and the registered ones. A pool is opened at the first use of its
 * source: a source that is down prevents no start, and an unused source takes no connection.
 */
public final class Sources implements AutoCloseable {
  /** The name of the gateway's own database in requests. */
  public static final String GATEWAY = "gateway";

  public static final int CONNECTIONS_MAX = 4;

  /** In the order of registration. */
  private final Map<String, DatabaseSettings> known = new LinkedHashMap<>();

  private final Observer observer;
  private final WatchTimeouts timeouts;
  private final Map<String, Source> opened = new HashMap<>();
  private boolean isClosed;

  /** Doesn't connect yet. */
  public Sources(
      DatabaseSettings own, Map<String, DatabaseSettings> registered, Observer observer) {
    this(own, registered, observer, WatchTimeouts.DEFAULT);
  }

  /** With other limits for networks that drop all packets. */
  public Sources(
      DatabaseSettings own,
      Map<String, DatabaseSettings> registered,
      Observer observer,
      WatchTimeouts timeouts) {
    if (registered.containsKey(GATEWAY)) {
      throw new IllegalArgumentException(GATEWAY + " is the gateway's own database");
    }
    known.put(GATEWAY, own);
    known.putAll(new TreeMap<>(registered));
    this.observer = observer;
    this.timeouts = timeouts;
  }

  /** The gateway's own database first, then by name. */
  public List<String> names() {
    return List.copyOf(known.keySet());
  }

  /** Doesn't check whether the Postgres answers. */
  public synchronized Optional<Source> named(String name) {
    if (isClosed) {
      throw new IllegalStateException("the sources are closed");
    }
    return Optional.ofNullable(known.get(name))
        .map(where -> opened.computeIfAbsent(name, _ -> opened(name, where)));
  }

  /**
   * The source of a run.
   *
   * @throws SourceUnregistered if there is none of that name
   */
  public Source ofRun(String name) {
    return named(name).orElseThrow(() -> new SourceUnregistered(name));
  }

  private Source opened(String name, DatabaseSettings where) {
    DatabaseSettings settings =
        new DatabaseSettings(where.url(), where.user(), where.password(), CONNECTIONS_MAX)
            .over(where.shards());
    Database pool = Database.openPinned(settings, "source-" + name, observer);
    return new Source(name, settings, pool, name.equals(GATEWAY), timeouts);
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    opened.values().forEach(source -> source.database().close());
    opened.clear();
  }
}
