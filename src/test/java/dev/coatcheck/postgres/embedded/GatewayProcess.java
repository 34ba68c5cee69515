package dev.coatcheck.postgres.embedded;

import dev.coatcheck.TestJvm;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A process that holds the embedded database of a home: {@code GatewayProcess HOME PROGRAMS}. It
 * commits the rows 1, 2, 3 … and prints each number once it is committed, until it is killed.
 */
final class GatewayProcess {
  private GatewayProcess() {}

  static Process start(Path home) throws IOException {
    return start(home, Map.of());
  }

  /** One that has programs of its own, which it unpacks. */
  static Process unpacking(Path home) throws IOException {
    return TestJvm.running(
            GatewayProcess.class, home.toString(), home.resolve("postgres").toString())
        .start();
  }

  static Process start(Path home, Map<String, String> environment) throws IOException {
    ProcessBuilder builder =
        TestJvm.running(GatewayProcess.class, home.toString(), TestServer.PROGRAMS.toString());
    builder.environment().putAll(environment);
    return builder.start();
  }

  public static void main(String[] arguments) throws UnusableDatabase, InterruptedException {
    TestSql query =
        TestSql.on(EmbeddedDatabase.start(Path.of(arguments[0]), Path.of(arguments[1])));
    query.execute("create table committed (n integer primary key)");
    for (int n = 1; !System.out.checkError(); n++) {
      query.execute("insert into committed values (" + n + ")");
      System.out.println(n);
    }
    // Who destroys a process closes its output too, and the signal may come later.
    TimeUnit.MINUTES.sleep(1);
  }
}
