package dev.coatcheck.cluster.lease;

import dev.coatcheck.TestJvm;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** A Postgres under an environment of its own, such as a clock that jumps; ends with its input. */
public final class DatabaseProcess implements AutoCloseable {
  private final Process process;
  private final TestDatabase database;

  private DatabaseProcess(Process process, TestDatabase database) {
    this.process = process;
    this.database = database;
  }

  public static DatabaseProcess start(Path home, Map<String, String> environment)
      throws IOException {
    ProcessBuilder builder = TestJvm.running(DatabaseProcess.class, home.toString());
    builder.environment().putAll(environment);
    Process process = builder.start();
    BufferedReader answer = process.inputReader();
    TestDatabase database =
        new TestDatabase(answer.readLine(), answer.readLine(), answer.readLine());
    return new DatabaseProcess(process, database);
  }

  public TestDatabase database() {
    return database;
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    process.onExit().join();
  }

  public static void main(String[] arguments) throws Exception {
    try (EmbeddedDatabase database = EmbeddedDatabase.start(Path.of(arguments[0]))) {
      TestSql.on(database).migrate();
      System.out.printf("%s%n%s%n%s%n", database.jdbcUrl(), database.user(), database.password());
      while (System.in.read() >= 0) {
        // Nothing is ever said; the end of the input is the end.
      }
    }
  }
}
