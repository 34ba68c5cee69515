package dev.coatcheck.bench.load;

import dev.coatcheck.bench.machine.MeasureFailed;
import java.io.IOException;
import java.time.Duration;

/** Requests to one server, in a closed loop and in an open loop, from processes of their own. */
public final class Load implements AutoCloseable {
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
   * @throws MeasureFailed if the server doesn't answer them with success: wrk wouldn't tell
   */
  public static Load of(LoadSpec spec, Generator generator) throws IOException {
    Load load = new Load(GeneratorProcess.start(spec), generator, Wrk.of(spec));
    try {
      double perSecond = spec.connections() * 1e3;
      LoadResult _ = load.open(Duration.ofMillis(1), perSecond).requireServed(spec.path());
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
