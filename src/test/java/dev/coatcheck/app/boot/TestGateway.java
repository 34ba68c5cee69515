package dev.coatcheck.app.boot;

import dev.coatcheck.postgres.embedded.TestHome;
import java.nio.file.Path;
import java.util.Map;

/** A gateway of this JVM with the embedded Postgres of a home, on any free port. */
public record TestGateway(TestHome home, Gateway gateway) implements AutoCloseable {
  /** One that has never run before. */
  public static TestGateway fresh() {
    return on(TestHome.fresh());
  }

  public static TestGateway on(TestHome home) {
    Map<Setting, String> flags = Map.of(Setting.HOME, home.toString(), Setting.PORT, "0");
    try {
      return switch (Config.read(Map.of(), flags)) {
        case Config.Parsed.Valid(Config config) -> new TestGateway(home, Gateway.start(config));
        case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
      };
    } catch (StartFailed failed) {
      throw new AssertionError(failed);
    }
  }

  public String url() {
    return gateway.url();
  }

  /** The file with a key that may do all. */
  public Path keyFile() {
    return gateway.developmentKey().orElseThrow();
  }

  @Override
  public void close() {
    gateway.close();
    home.close();
  }
}
