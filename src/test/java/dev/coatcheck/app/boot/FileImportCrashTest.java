package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.KeyModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that dies while it takes the file of a table migration. */
@Tag("faults")
class FileImportCrashTest {
  private static final int ROWS = 45_000;
  private static final long EPOCH_MILLIS = 1_672_531_200_000L;
  private static final long FIRST_MILLIS = 1_714_521_600_000L;

  @TempDir Path folder;

  /** And the command says that the file may be sent again. */
  @Test
  void theSameFileAgainGivesTheKeysThatAnUndisturbedImportWouldHaveGiven() throws Exception {
    try (MigrationFixture fixture = MigrationFixture.desk()) {
      fixture.execute(
          "create table orders (id bigserial primary key)",
          "insert into orders select from generate_series(1, " + ROWS + ")");
      TableMigration run = fixture.plan("orders", Optional.empty());
      List<@Nullable Long> created = new ArrayList<>();
      Path file = file(created);
      Path key = key(fixture);
      String[] arguments = {"migrate-table", "import", "" + run.id(), file.toString()};

      try (GatewayChild first = GatewayChild.serve(fixture.gateway.on)) {
        Process sender = GatewayChild.start(with(arguments, first, key));
        Awaitility.await().until(() -> imported(fixture) > 0);
        first.kill();
        assertThat(sender.waitFor()).isNotZero();
      }
      long reached = imported(fixture);
      assertThat(reached % 128).as("whole blocks, up to %d", reached).isZero();
      try (GatewayChild second = GatewayChild.serve(fixture.gateway.on)) {
        GatewayChild.Ended again = GatewayChild.run(with(arguments, second, key));
        assertThat(again.status()).as("%s", again).isZero();
        assertThat(again.out().toString()).contains("" + (ROWS - reached), "" + reached);
      }

      assertThat(
              fixture.column(
                  "select p.key from coatcheck.alias a join coatcheck.public_id p using (token)"
                      + " order by a.value::bigint"))
          .isEqualTo(
              KeyModel.keys(created, run.times().createdAt().toEpochMilli() - EPOCH_MILLIS, 4_096));
      assertThat(fixture.count("select times_lost from coatcheck.table_migration"))
          .isEqualTo(KeyModel.lost(created, run.times().createdAt().toEpochMilli() - EPOCH_MILLIS));
    }
  }

  private static long imported(MigrationFixture fixture) {
    return fixture.count("select coalesce(imported_id, 0) from coatcheck.table_migration");
  }

  /** A row each second; each five-hundredth was restored a day before the run. */
  private Path file(List<@Nullable Long> created) throws IOException {
    StringBuilder csv = new StringBuilder("legacy_id,created_at\n");
    long restored = System.currentTimeMillis() - 86_400_000;
    for (int id = 1; id <= ROWS; id++) {
      long millis = id % 500 == 3 ? restored + id : FIRST_MILLIS + id * 1_000L;
      created.add(millis - EPOCH_MILLIS);
      csv.append(id).append(',').append(Instant.ofEpochMilli(millis)).append('\n');
    }
    return Files.writeString(folder.resolve("old.csv"), csv);
  }

  private Path key(MigrationFixture fixture) throws IOException {
    return Files.writeString(folder.resolve("key"), GatewayFixture.keyOn(fixture.gateway.on));
  }

  private static String[] with(String[] arguments, GatewayChild gateway, Path key) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--url=" + gateway.uri());
    all.add("--key-file=" + key);
    return all.toArray(String[]::new);
  }
}
