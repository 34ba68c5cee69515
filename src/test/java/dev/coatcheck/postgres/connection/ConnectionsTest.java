package dev.coatcheck.postgres.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import dev.coatcheck.FreePort;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.postgres.sql.PgBouncer;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool that is opened while its server is away. */
class ConnectionsTest {
  private static final TestDatabase DATABASE = TestDatabase.fresh();

  private FaultProxy way;
  private Connections connections;

  @BeforeEach
  void open() throws IOException {
    way = new FaultProxy(FreePort.next());
    connections =
        Connections.openBoundedIfPossible(
            DATABASE.behind(way.port()).settings(1), new HikariConfig(), Duration.ofSeconds(1));
  }

  @AfterEach
  void close() throws IOException {
    connections.close();
    way.close();
  }

  @Test
  void aServerThatComesLateGetsBoundedStatements() {
    way.target(DATABASE.port());

    await().ignoreExceptionsInstanceOf(SQLException.class).until(() -> timeout().equals("850ms"));
  }

  @Test
  void aPoolerThatComesLateAndRefusesBoundsIsUsedWithoutThem(@TempDir Path folder)
      throws IOException {
    assumeTrue(PgBouncer.program().isPresent(), "no pgbouncer is installed");
    try (PgBouncer pooler = PgBouncer.start(folder, DATABASE, "session", 8, false, false)) {
      way.target(pooler.database().port());

      await().ignoreExceptionsInstanceOf(SQLException.class).until(() -> timeout().equals("0"));
    }
  }

  private String timeout() throws SQLException {
    return connections.lend(
        Deadline.after(Duration.ofSeconds(2)),
        lent -> {
          try (var statement = connections.acquire().createStatement();
              var rows = statement.executeQuery("show statement_timeout")) {
            assertThat(rows.next()).isTrue();
            return rows.getString(1);
          }
        });
  }
}
