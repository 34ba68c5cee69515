package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.migrate.plan.Plan;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.verify.Report;
import dev.coatcheck.postgres.session.LockWait;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the rows of runs keep as JSON outlives the version that wrote it. Each file is as an earlier
 * version wrote it. A change of a record that makes a test fail needs a migration of the rows that
 * are there, and a new file beside the old one.
 */
class StoredJsonTest {
  private static final JsonMapper JSON = new JsonMapper();

  private static Stream<Arguments> stored() {
    return Stream.of(
        arguments("stored-plan.json", Plan.class),
        arguments("stored-throttle-settings.json", ThrottleSettings.class),
        arguments("stored-wait.json", LockWait.class),
        arguments("stored-report.json", Report.class));
  }

  @ParameterizedTest
  @MethodSource("stored")
  void everyFieldIsReadAndWrittenUnderItsName(String file, Class<?> type) {
    assertThat(written(RunRowTable.read(text(file), type))).isEqualTo(JSON.readTree(text(file)));
  }

  @Test
  void aRunIsReadAsAnEarlierVersionWroteIt() {
    try (MappingFixture gateway = new MappingFixture()) {
      gateway
          .on
          .sql()
          .execute(
              """
              insert into coatcheck.table_migration
                (source, table_schema, table_name, table_oid, key_column, key_type, type_id,
                 keep_primary_key, first_schema, first_name, key_attnum, application_path,
                 accepted, plan, throttle_settings, waits_for, report)
              values ('shop', 'public', 'orders', 16384, 'id', 'bigint', %d,
                      false, 'public', 'orders', 1, '"$user", "public"',
                      '{row_shape,new_key}', '%s', '%s', '%s', '%s')
              """
                  .formatted(
                      gateway.charge.number(),
                      text("stored-plan.json"),
                      text("stored-throttle-settings.json"),
                      text("stored-wait.json"),
                      text("stored-report.json")));

      TableMigration run =
          new JournalTable(gateway.database, gateway.observer, "test").find(1).orElseThrow();

      assertThat(run.plan()).isEqualTo(RunRowTable.read(text("stored-plan.json"), Plan.class));
      assertThat(run.status().waitsFor())
          .contains(RunRowTable.read(text("stored-wait.json"), LockWait.class));
      assertThat(run.accepted()).containsExactly("row_shape", "new_key");
      assertThat(JSON.readTree(run.report())).isEqualTo(JSON.readTree(text("stored-report.json")));
      assertThat(run.throttleSettings())
          .isEqualTo(new ThrottleSettings(400, 5_000, 20, 11, 2_048, 6, 601, 251, 602, true));
    }
  }

  private static JsonNode written(Object value) {
    return JSON.readTree(RunRowTable.json(value));
  }

  private static String text(String file) {
    try (InputStream stored = StoredJsonTest.class.getResourceAsStream(file)) {
      return new String(
          Objects.requireNonNull(stored, file).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
