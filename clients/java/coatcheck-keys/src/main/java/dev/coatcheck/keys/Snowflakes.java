package dev.coatcheck.keys;

import dev.coatcheck.cluster.lease.LeaseEvent;
import dev.coatcheck.cluster.lease.LeaseReply;
import dev.coatcheck.cluster.lease.LeaseRequest;
import dev.coatcheck.cluster.lease.LeaseSettings;
import dev.coatcheck.cluster.lease.WorkerLease;
import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Snowflake keys made in this process: positive longs that rise, with their time in front, for
 * {@code bigint} columns. No call to anybody is needed for a key. Thread-safe; one object for each
 * layout is enough for a process, and makes 4,096 keys a millisecond in the layout {@code default}.
 *
 * <h2>What is promised</h2>
 *
 * <ul>
 *   <li><b>Leased</b>, from a {@linkplain #leasedFrom(URI, String) gateway} or straight from
 *       {@linkplain #leasedFrom(DataSource) Postgres}: no key is made twice, whatever clocks,
 *       pauses, crashes and networks do, by any two holders on one database. The only exception is
 *       a copy of a running machine's memory: the two may make the keys of at most the rest of one
 *       window twice. A holder whose database is gone makes keys to the end of its window.
 *   <li><b>{@linkplain #standalone Standalone}</b>: no key is made twice by one object. A restart
 *       with an earlier clock, or one worker used by two processes, can repeat keys. A {@linkplain
 *       Standalone#stateFile state file} prevents the first.
 * </ul>
 *
 * Keys of one object rise, except where a leased one changes its worker after a jump of the
 * database's clock.
 */
public final class Snowflakes implements AutoCloseable {
  /** The most keys of a batch. */
  public static final int BATCH_MAX = 16_384;

  private final SnowflakeLayout layout;
  private final KeySource source;

  Snowflakes(SnowflakeLayout layout, KeySource source) {
    this.layout = layout;
    this.source = source;
  }

  /**
   * A key, without a lock and, while the layout has keys left for the moment, without a wait. At
   * the layout's cap it waits for the next millisecond.
   *
   * @throws KeysUnavailableException if there is no key for 50 ms
   * @throws IllegalStateException if the time of the layout has ended
   */
  public long next() {
    long key = source.key();
    return key >= 0 ? key : await(new long[1], KeyReservation.WAIT_NANOS_MAX)[0];
  }

  /**
   * Keys in rising order. Reserves runs of them instead of drawing each.
   *
   * @param count 1 to {@value #BATCH_MAX}
   * @throws KeysUnavailableException if there is no further key for 50 ms and a tick of the layout,
   *     or not all of them in 3 s; no key of the batch is used then
   */
  public long[] nextBatch(int count) {
    if (count < 1 || count > BATCH_MAX) {
      throw new IllegalArgumentException("count " + count + " is not within 1.." + BATCH_MAX);
    }
    return await(
        new long[count],
        KeyReservation.WAIT_NANOS_MAX + TimeUnit.MILLISECONDS.toNanos(layout.tickMillis() - 1));
  }

  /**
   * Fills in all keys.
   *
   * @param idleNanosMax how long to wait for one more
   */
  private long[] await(long[] keys, long idleNanosMax) {
    // A thread that is interrupted doesn't park: the wait would take a whole processor.
    boolean isInterrupted = Thread.interrupted();
    try {
      source.awaitFirst();
      long begun = System.nanoTime();
      long idleSince = begun;
      int done = 0;
      while (done < keys.length) {
        isInterrupted |= Thread.interrupted();
        KeyReservation reserved = source.reserve(keys.length - done);
        if (reserved instanceof KeyReservation.Some some) {
          Positions.Run run = some.run();
          for (int i = 0; i < run.count(); i++) {
            keys[done++] = layout.key(run.first() + i, some.worker());
          }
          idleSince = System.nanoTime();
        } else if (reserved instanceof KeyReservation.Never never) {
          throw new KeysUnavailableException(never.reason(), never.retryAfterMillis());
        } else if (reserved instanceof KeyReservation.Wait wait) {
          long now = System.nanoTime();
          if (now - idleSince >= idleNanosMax || now - begun >= KeyReservation.DRAW_NANOS_MAX) {
            throw new KeysUnavailableException(wait.reason(), wait.retryAfterMillis());
          }
          LockSupport.parkNanos(KeyReservation.PAUSE_NANOS);
        }
      }
      return keys;
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The name or spelling of the layout, as {@code POST /v1/types} takes it. */
  public String layout() {
    return layout.name();
  }

  /** Stops making keys. A leased worker is given back; its window is granted to nobody else. */
  @Override
  public void close() {
    source.close();
  }

  /**
   * Keys of a worker that a gateway leases to this process, renewed each second. The API key needs
   * the scope {@code keys:write}.
   *
   * @param gateway such as {@code http://coatcheck:8080}, without user info, query and fragment
   * @throws IllegalArgumentException if the URL is another one, or the API key has a line break, or
   *     something else that no key has
   */
  public static Leased leasedFrom(URI gateway, String apiKey) {
    HttpLeases.checked(apiKey);
    return leasedFrom(gateway, () -> apiKey);
  }

  /**
   * The same with an API key that may be rotated: a successor has the same principal, so the worker
   * stays.
   *
   * @param apiKey asked before each request, on the thread that renews; must not wait. What it
   *     throws is a request that failed
   */
  public static Leased leasedFrom(URI gateway, Supplier<String> apiKey) {
    return new Leased(HttpLeases.checked(gateway), Objects.requireNonNull(apiKey), null);
  }

  /**
   * Keys of a worker that this process leases in the schema {@code coatcheck} of a Postgres
   * database, with no gateway in between. Two databases whose keys go into one table need ranges of
   * workers that don't overlap.
   *
   * @param dataSource of the database, with the driver of the application. One connection is used
   *     for a moment each second; a small pool of its own keeps the lease through overload.
   */
  public static Leased leasedFrom(DataSource dataSource) {
    return new Leased(null, null, Objects.requireNonNull(dataSource));
  }

  /**
   * Keys of a worker that a setting gives to this process, by the machine's clock. See what is not
   * promised above: two processes with one worker make the same keys.
   *
   * @param worker from 0 on; one that no gateway and no other process uses for the same table
   */
  public static Standalone standalone(int worker) {
    return new Standalone(worker);
  }

  /** Settings of leased keys. Not thread-safe. */
  public static final class Leased {
    private static final Pattern HOLDER = Pattern.compile("[!-~]{1,64}");

    private final @Nullable URI gateway;
    private final @Nullable Supplier<String> apiKey;
    private final @Nullable DataSource dataSource;
    private SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    private String holder = "java-" + ProcessHandle.current().pid();
    private int firstWorker;
    private int lastWorker = -1;
    private long windowMillis = LeaseSettings.WINDOW_OF_THE_DATABASE;
    private Consumer<String> events = event -> {};
    private @Nullable SSLContext tls;

    private Leased(
        @Nullable URI gateway, @Nullable Supplier<String> apiKey, @Nullable DataSource dataSource) {
      this.gateway = gateway;
      this.apiKey = apiKey;
      this.dataSource = dataSource;
    }

    /**
     * The layout of the keys; {@code default} by default.
     *
     * @param name a name such as {@code default}, or a spelling such as {@code
     *     41/5+5/12@1288834974657}
     */
    public Leased layout(String name) {
      layout = SnowflakeLayout.accepted(name);
      return this;
    }

    /**
     * A name for people, who see it in the list of workers; by default {@code java-} and the
     * process number. Two processes may have the same name.
     *
     * @param name 1 to 64 visible ASCII characters
     */
    public Leased holder(String name) {
      if (!HOLDER.matcher(name).matches()) {
        throw new IllegalArgumentException("a holder has 1 to 64 visible ASCII characters");
      }
      holder = name;
      return this;
    }

    /**
     * The workers that this process may lease, both inclusive; all by default. Straight from
     * Postgres only: a gateway has a range of its own.
     */
    public Leased workers(int first, int last) {
      requirePostgres("workers");
      if (last < first) {
        throw new IllegalArgumentException("workers %d..%d are none".formatted(first, last));
      }
      firstWorker = first;
      lastWorker = last;
      return this;
    }

    /**
     * How long keys can be made while Postgres is gone: 2 to 60 s. One value for all holders of a
     * database; a holder with another gets no worker. By default that of the database. Straight
     * from Postgres only.
     */
    public Leased window(Duration window) {
      requirePostgres("window");
      if (window.toMillis() == LeaseSettings.WINDOW_OF_THE_DATABASE) {
        throw new IllegalArgumentException("a window has 2 to 60 s, not " + window);
      }
      windowMillis = window.toMillis();
      return this;
    }

    /**
     * Whom to trust, for a gateway with {@code https}; by default whom the JDK trusts.
     *
     * @param context such as one with the certificate of an authority of your own
     */
    public Leased tls(SSLContext context) {
      if (gateway == null) {
        throw new IllegalStateException("tls is a setting of the driver of Postgres");
      }
      tls = Objects.requireNonNull(context);
      return this;
    }

    private void requirePostgres(String setting) {
      if (dataSource == null) {
        throw new IllegalStateException(setting + " is a setting of the gateway");
      }
    }

    /**
     * Takes a line for each change of the lease, for a log. Called on the thread that renews; it
     * must return at once. What it throws goes to the thread's handler of uncaught exceptions, and
     * the lease goes on.
     */
    public Leased onEvent(Consumer<String> listener) {
      events = Objects.requireNonNull(listener);
      return this;
    }

    /** A failure that repeats is one change: in an outage it comes several times a second. */
    private static Consumer<LeaseEvent> changes(Consumer<String> listener) {
      AtomicReference<@Nullable LeaseEvent> last = new AtomicReference<>();
      return event -> {
        if (!event.equals(last.getAndSet(event))) {
          tell(listener, event);
        }
      };
    }

    /** The lease outlives a log that fails. */
    private static void tell(Consumer<String> listener, LeaseEvent event) {
      try {
        listener.accept(event.toString());
      } catch (Throwable failed) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, failed);
      }
    }

    /**
     * Begins to lease, on a daemon thread. The first key waits for the first answer, 0.8 s at most.
     *
     * @throws IllegalArgumentException if the workers or the window don't fit
     */
    public Snowflakes open() {
      int last = lastWorker < 0 ? WorkerUses.shared(layout) - 1 : lastWorker;
      LeaseSettings settings = new LeaseSettings(layout, firstWorker, last, holder, windowMillis);
      Consumer<LeaseEvent> told = changes(events);
      WorkerLease lease;
      if (dataSource != null) {
        lease = WorkerLease.watchingTheWallClock(settings, dataSource, told);
      } else {
        Function<LeaseRequest, LeaseReply> leases =
            new HttpLeases(
                Objects.requireNonNull(gateway),
                Objects.requireNonNull(apiKey),
                tls,
                layout,
                holder);
        lease = WorkerLease.watchingTheWallClock(settings, leases, told);
      }
      return new Snowflakes(layout, new LeasedSource(lease.start()));
    }
  }

  /** Settings of standalone keys. Not thread-safe. */
  public static final class Standalone {
    private final int worker;
    private SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    private ClockPolicy policy = ClockPolicy.TIERED;
    private @Nullable Path stateFile;

    private Standalone(int worker) {
      this.worker = worker;
    }

    /** As {@link Leased#layout}. */
    public Standalone layout(String name) {
      layout = SnowflakeLayout.accepted(name);
      return this;
    }

    /** What happens when the clock steps back; {@link ClockPolicy#TIERED} by default. */
    public Standalone clockPolicy(ClockPolicy clockPolicy) {
      policy = Objects.requireNonNull(clockPolicy);
      return this;
    }

    /**
     * A file that keeps a mark no key lies beyond, so that a restart with an earlier clock makes no
     * key twice: it goes on after the mark, as after a step back of the clock. Written about once
     * in two seconds, and synced, before the keys of that time. One process may have it open.
     */
    public Standalone stateFile(Path file) {
      stateFile = Objects.requireNonNull(file);
      return this;
    }

    /**
     * Makes the generator, and opens the state file if there is one.
     *
     * @throws IllegalArgumentException if the layout has no such worker
     * @throws java.io.UncheckedIOException if the state file can't be used: it is another
     *     process's, is for another layout or worker, or can't be written
     */
    public Snowflakes open() {
      if (worker < 0 || worker >= layout.workers()) {
        throw new IllegalArgumentException(
            "worker %d is not within 0..%d of layout %s"
                .formatted(worker, layout.workers() - 1, layout.name()));
      }
      @Nullable MarkFile file =
          stateFile == null ? null : MarkFile.open(stateFile, layout.name(), worker);
      return new Snowflakes(
          layout,
          new StandaloneSource(
              layout, worker, policy, file, System::currentTimeMillis, System::nanoTime));
    }
  }
}
