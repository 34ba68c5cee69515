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
  public KeyDraw next(int count) {
    return KeyRun.draw(count, layout, this::reserve, Waiter.PARKING);
  }

  private KeyRun reserve(int count) {
    long now = System.currentTimeMillis();
    Positions.Run run = positions.reserve(count, layout.position(now), layout.position(now + 1));
    return run.count() > 0
        ? new KeyRun.Some(run, worker)
        : new KeyRun.Wait("every key of this millisecond is taken", 1);
  }
}
