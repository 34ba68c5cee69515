package dev.coatcheck.cluster.lease;

import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.MachineDelay;
import dev.coatcheck.cluster.grant.Segments;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The leases of a gateway together. */
class KeyFactoryTest {
  private static final int LAYOUTS = 10;

  private final LeaseDatabase server = LeaseDatabase.fresh();
  private volatile boolean isFrozen;

  /** A database that takes each request and answers none. */
  private DataSource freezing(DataSource pool) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (_, method, arguments) -> {
              if (isFrozen) {
                LockSupport.parkNanos(800_000_000);
                throw new SQLException("frozen");
              }
              return method.invoke(pool, arguments);
            });
  }

  @Test
  void manyLayoutsOnAFrozenDatabaseAreClosedInTheTimeOfOne() {
    Observer observer = new Observer();
    try (MachineDelay delay = MachineDelay.measure();
        HikariDataSource pool = server.pool();
        Database database = Database.open(server.server().settings(2), "factory", observer)) {
      KeyFactory factory =
          new KeyFactory(
              new KeyFactory.Leasing(WorkerRanges.unlimited(), "test", 3_000, freezing(pool)),
              database,
              new Segments(database, observer, System::nanoTime),
              observer,
              InstantSource.system());
      for (int i = 0; i < LAYOUTS; i++) {
        KeyGeneration keys =
            new KeyTimes.Snowflakes(SnowflakeLayout.accepted("41/10/12@%d".formatted(i)));
        await().until(() -> factory.of(keys).next(1), KeyOutcome.Drawn.class::isInstance);
      }
      isFrozen = true;

      long from = System.nanoTime();
      factory.close();
      delay.requireWithin(Duration.ofSeconds(4), Duration.ofNanos(System.nanoTime() - from));
    }
  }
}
