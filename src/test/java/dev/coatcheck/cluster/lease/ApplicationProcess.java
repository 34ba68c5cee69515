package dev.coatcheck.cluster.lease;

import dev.coatcheck.TestJvm;
import dev.coatcheck.keys.KeysUnavailableException;
import dev.coatcheck.keys.Snowflakes;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.net.URI;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * An application that makes keys with the library until it is killed, and prints the lines of a
 * {@link MintingProcess}.
 */
final class ApplicationProcess {
  /** What every application here calls itself. */
  static final String HOLDER = "shop";

  private ApplicationProcess() {}

  static ProcessBuilder behind(URI gateway, String apiKey) {
    return TestJvm.running(ApplicationProcess.class, gateway.toString(), apiKey);
  }

  static ProcessBuilder on(TestDatabase database, int lastWorker) {
    return TestJvm.running(
        ApplicationProcess.class,
        database.url(),
        database.user(),
        database.password(),
        Integer.toString(lastWorker));
  }

  public static void main(String[] arguments) {
    try (Snowflakes keys = leased(arguments).holder(HOLDER).open()) {
      Random random = new Random();
      while (!System.out.checkError()) {
        System.out.print(lines(keys, 1 + random.nextInt(64)));
        System.out.flush();
        LockSupport.parkNanos(500_000);
      }
    }
  }

  private static Snowflakes.Leased leased(String[] arguments) {
    if (arguments.length == 2) {
      return Snowflakes.leasedFrom(URI.create(arguments[0]), arguments[1]);
    }
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(arguments[0]);
    source.setUser(arguments[1]);
    source.setPassword(arguments[2]);
    source.setConnectTimeout(1);
    source.setSocketTimeout(1);
    return Snowflakes.leasedFrom(source).workers(0, Integer.parseInt(arguments[3]));
  }

  private static String lines(Snowflakes keys, int count) {
    try {
      return MintingProcess.lines(keys.nextBatch(count));
    } catch (KeysUnavailableException none) {
      return MintingProcess.refusal(none.toString());
    }
  }
}
