package dev.coatcheck.core.key;

/**
 * Snowflake keys of one fixed worker on the wall clock, for tests that need no lease. Unique as
 * long as no other generator runs as the same worker.
 */
public final class Snowflake implements KeyGenerator {
  private final SnowflakeLayout layout;
  private final int worker;
  private final Positions positions = new Positions(-1);

  public Snowflake(SnowflakeLayout layout, int worker) {
    this.layout = layout;
    this.worker = worker;
  }

  @Override
  public KeyOutcome next(int count) {
    return KeyReservation.draw(count, layout, this::reserve, Waiter.PARKING);
  }

  private KeyReservation reserve(int count) {
    long now = System.currentTimeMillis();
    Positions.Run run = positions.reserve(count, layout.position(now), layout.position(now + 1));
    return run.count() > 0
        ? new KeyReservation.Some(run, worker)
        : new KeyReservation.Wait("every key of this millisecond is taken", 1);
  }
}
