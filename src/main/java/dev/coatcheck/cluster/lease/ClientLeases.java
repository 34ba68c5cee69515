package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Leases of workers for programs that make their keys themselves and reach Postgres through a
 * gateway only. A lease is known by its ID, a secret that its holder alone has and that is stored
 * as a hash, and belongs to a principal.
 *
 * <p>A gateway leases such workers from its own range, at most half of it: the others are left to
 * gateways. So of a range with a single worker there is none for clients.
 */
public final class ClientLeases {
  /** How many workers a principal may have where its API key says nothing else. */
  public static final int LEASES_MAX_DEFAULT = 16;

  /** The most that an API key can allow. */
  public static final int LEASES_MAX = 1_024;

  private static final int ID_BYTES = 16;
  private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
  private static final Pattern HOLDER = Pattern.compile("[!-~]{1,64}");

  private final ClientLeaseStore store;
  private final WorkerRanges workers;
  private final RandomSource random;
  private final long windowMillis;

  /**
   * @param workers of the gateway
   * @param windowMillis the window of the gateway's own leases
   */
  public ClientLeases(
      Database database, WorkerRanges workers, RandomSource random, long windowMillis) {
    this.store = new ClientLeaseStore(database);
    this.workers = workers;
    this.random = random;
    this.windowMillis = windowMillis;
  }

  /**
   * A window of the database's time: the milliseconds after {@code from} up to {@code until}. The
   * windows of one epoch join up.
   *
   * @param from the database's clock, read once
   */
  public record Window(
      SnowflakeLayout layout, int worker, long epoch, Instant from, Instant until) {}

  /** The outcome of asking for a worker. */
  public sealed interface Acquisition {
    /**
     * A worker is leased.
     *
     * @param id the secret, which is shown here only
     */
    record Granted(String id, Window window) implements Acquisition {}

    /** Every worker that clients may have is held or rests. */
    record NoneFree(String reason, long retryAfterMillis) implements Acquisition {}

    /** The principal has that many, held or with a window that has not ended. */
    record TooMany(int leasesMax) implements Acquisition {}

    /** There are as many layouts as requests may spell out, and this would be a further one. */
    record TooManyLayouts() implements Acquisition {}

    /** This gateway has no range of the layout. Another one may have one. */
    record NoWorkerRange(SnowflakeLayout layout) implements Acquisition {}

    /** This gateway may lease one worker of the layout, which it needs itself. */
    record OneWorkerOnly(SnowflakeLayout layout) implements Acquisition {}
  }

  /** The outcome of asking for more window. */
  public sealed interface Renewal {
    record Renewed(Window window) implements Renewal {}

    /** The lease has ended, or was renewed under another mark: by a copy of the holder. */
    record Stale() implements Renewal {}

    /** No lease of the principal has the ID, or its worker has another holder. */
    record Unknown() implements Renewal {}
  }

  /** Whether a text can name a holder: 1 to 64 visible ASCII characters. */
  public static boolean isHolder(String text) {
    return HOLDER.matcher(text).matches();
  }

  /**
   * Leases any free worker.
   *
   * @param isSpelled the layout has neither a name nor a type, so there may be a few such only
   * @param holder for people, who see it in lists
   * @param leasesMax how many workers the principal may have
   */
  public Acquisition acquire(
      SnowflakeLayout layout, boolean isSpelled, String holder, String principal, int leasesMax) {
    Optional<WorkerRanges.Range> range = workers.leased(layout);
    if (range.isEmpty()) {
      return new Acquisition.NoWorkerRange(layout);
    }
    int first = range.get().first();
    int last = range.get().last();
    long leased =
        IntStream.rangeClosed(first, last)
            .filter(worker -> WorkerUses.isLeased(layout, worker))
            .count();
    if (leased == 1) {
      return new Acquisition.OneWorkerOnly(layout);
    }
    byte[] secret = new byte[ID_BYTES];
    random.fill(secret);
    String id = HexFormat.of().formatHex(secret);
    return store.acquire(
        new LeaseSettings(layout, first, last, holder, windowMillis),
        new ClientLeaseStore.Asker(
            id,
            new WorkerLeaseStore.Client(hash(id), principal),
            isSpelled && !workers.areLimited(),
            leasesMax,
            leased / 2));
  }

  /**
   * Grants more window.
   *
   * @param untilMillis the end of what the holder was granted so far
   */
  public Renewal renew(String id, String principal, long epoch, long untilMillis) {
    return isId(id)
        ? store.renew(new WorkerLeaseStore.Client(hash(id), principal), epoch, untilMillis)
        : new Renewal.Unknown();
  }

  /**
   * Ends a lease. Its worker rests to the end of its window.
   *
   * @return false if no lease of the principal has the ID
   */
  public boolean release(String id, String principal) {
    return isId(id) && store.release(new WorkerLeaseStore.Client(hash(id), principal));
  }

  private static boolean isId(String text) {
    return ID.matcher(text).matches();
  }

  private static String hash(String id) {
    return HexFormat.of().formatHex(Sha256.of(id));
  }
}
