package dev.coatcheck.postgres.connection;

import java.time.Duration;

/**
 * The moment by which a caller has its answer. Every wait on the way is cut to it: for a turn in a
 * group, a permit, a connection, a lock, a statement, the socket.
 *
 * <p>A request's deadline is bound to its thread, so that nothing on the way can forget to hand it
 * on; work that another thread does for the request is given the deadline there. Without a
 * deadline, as in a background job, one use of the database may take {@value #UNBOUND_SECONDS} s.
 */
public record Deadline(long nano) {
  /** For a read or a single mint: 100 ms less than what is promised. */
  private static final Duration ANSWER = Duration.ofMillis(900);

  private static final Duration LAST_WRITE = Duration.ofSeconds(3);

  private static final int UNBOUND_SECONDS = 10;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Stands for none, where an outer one ends. */
  private static final Deadline NONE = new Deadline(0);

  private static final ScopedValue<Deadline> CURRENT = ScopedValue.newInstance();

  /** A task that may throw any exception. */
  public interface Work<X extends Exception> {
    void run() throws X;
  }

  /** That of a read or a single mint which begins now: in 900 ms. */
  public static Deadline ofAnswer() {
    return after(ANSWER);
  }

  /** That of what is still to be written at the shutdown, which must end without Postgres too. */
  public static Deadline ofLastWrite() {
    return after(LAST_WRITE);
  }

  public static Deadline after(Duration duration) {
    return new Deadline(System.nanoTime() + duration.toNanos());
  }

  /** That of this thread, or that of a background job which begins now. */
  public static Deadline current() {
    return isBound() ? CURRENT.get() : after(Duration.ofSeconds(UNBOUND_SECONDS));
  }

  /** Whether this thread works for a caller with a deadline. */
  public static boolean isBound() {
    return !CURRENT.orElse(NONE).equals(NONE);
  }

  /** Does the work without any, because it lasts as long as its client sends or reads. */
  public static <T, X extends Exception> T lasting(ScopedValue.CallableOp<T, X> work) throws X {
    return NONE.call(work);
  }

  public <X extends Exception> void run(Work<X> work) throws X {
    call(
        () -> {
          work.run();
          return true;
        });
  }

  public <T, X extends Exception> T call(ScopedValue.CallableOp<T, X> work) throws X {
    return ScopedValue.where(CURRENT, this).call(work);
  }

  /** Below 0 once it is over. */
  public long leftNanos() {
    return nano - System.nanoTime();
  }

  public long leftMillis() {
    return leftNanos() / NANOS_PER_MILLI;
  }

  public boolean isOver() {
    return leftNanos() <= 0;
  }

  /** That of this thread, or this one if it comes first. */
  public Deadline orEarlier() {
    return isBound() && isLaterThan(CURRENT.get()) ? CURRENT.get() : this;
  }

  public boolean isLaterThan(Deadline other) {
    return nano - other.nano > 0;
  }
}
