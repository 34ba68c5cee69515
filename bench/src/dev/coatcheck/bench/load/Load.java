package dev.coatcheck.bench.load;

import dev.coatcheck.bench.machine.MeasureFailed;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Requests to one server, in a closed loop and in an open loop, from processes of their own. */
public final class Load implements AutoCloseable {
  private static final int TRIES_MAX = 20;
  private static final long PAUSE_NANOS = 500_000_000;

  private final GeneratorProcess own;
  private final Generator generator;
  private final Wrk wrk;

  private Load(GeneratorProcess own, Generator generator, Wrk wrk) {
    this.own = own;
    this.generator = generator;
    this.wrk = wrk;
  }

  /**
   * Opens a load, and sends one request over each connection.
   *
   * @throws MeasureFailed if none is answered with success, or any as wrong: wrk wouldn't tell
   */
  public static Load of(LoadSpec spec, Generator generator) throws IOException {
    return of(spec, generator, List.of());
  }

  /**
   * As above.
   *
   * @param before a command that starts the generator of our own on a core that no other process
   *     needs, as {@code taskset -c 1}; may be empty
   */
  public static Load of(LoadSpec spec, Generator generator, List<String> before)
      throws IOException {
    Load load = new Load(GeneratorProcess.start(spec, before), generator, Wrk.of(spec));
    try {
      double perSecond = spec.connections() * 1e3;
      // A gateway that is cold, or that has just been under load, may refuse them for a moment.
      for (int tried = 0; load.open(Duration.ofMillis(1), perSecond).served() == 0; tried++) {
        if (tried == TRIES_MAX) {
          throw new MeasureFailed("No request to " + spec.path() + " was answered with success.");
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      return load;
    } catch (MeasureFailed failed) {
      load.close();
      throw failed;
    }
  }

  /** As many requests as the connections can carry. */
  public LoadResult closed(Duration time) {
    return switch (generator) {
      case WRK -> wrk.closed(time);
      case OWN -> own.closed(time);
    };
  }

  /** So many requests a second, whatever the server does. */
  public LoadResult open(Duration time, double perSecond) {
    return own.open(time, perSecond);
  }

  @Override
  public void close() {
    own.close();
    wrk.close();
  }
}
