package dev.coatcheck.postgres.sql;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import org.postgresql.core.PGStream;
import org.postgresql.core.QueryExecutorBase;
import org.postgresql.jdbc.PgConnection;

/** Leaves connections as a COPY does that is cancelled in the middle: one answer behind. */
public final class OutOfStep {
  private OutOfStep() {}

  /** Whatever the next connection of the pool is asked, it answers {@code question} first. */
  public static void leave(Database database, String question) {
    database.read(
        "test",
        sql ->
            sql.connectionResult(
                connection -> {
                  ask(connection.unwrap(PgConnection.class), question);
                  return true;
                }));
  }

  private static void ask(PgConnection connection, String question) throws Exception {
    Field field = QueryExecutorBase.class.getDeclaredField("pgStream");
    field.setAccessible(true);
    PGStream stream = (PGStream) field.get(connection.getQueryExecutor());
    byte[] text = question.getBytes(StandardCharsets.US_ASCII);
    stream.sendChar('Q');
    stream.sendInteger4(Integer.BYTES + text.length + 1);
    stream.send(text);
    stream.sendChar(0);
    stream.flush();
  }
}
