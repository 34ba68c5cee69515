package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.backfill.Checkpoint;
import dev.coatcheck.migrate.backfill.KeyModel;
import dev.coatcheck.migrate.backfill.KeyTimes;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.ObjectNames;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.steps.RowShapes.Shape;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a table looks like, its rows get the keys that this test works out for itself. */
class RowShapesTest {
  private static final long EPOCH = SnowflakeLayout.DEFAULT.epochMillis();

  private static MigrationFixture fixture;

  /** A row as the application sees it; its time in milliseconds since 1970. */
  private record Row(long id, OptionalLong createdMillis) {}

  @BeforeAll
  static void open() {
    fixture = MigrationFixture.apart();
  }

  @AfterAll
  static void close() {
    fixture.close();
  }

  @ParameterizedTest
  @MethodSource("dev.coatcheck.migrate.steps.RowShapes#all")
  void everyRowGetsItsKeyWhateverTheSizeOfTheBatches(Shape shape) throws SQLException {
    fixture.execute(shape.create());
    Target target = fixture.target(shape.table(), shape.key(), shape.time());
    List<Row> rows = rows(shape);
    fixture.apply(target, Phase.EXPAND);
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      Checkpoint start = new Backfill(session, target, Optional.empty()).checkpoint();
      List<Long> expected = keys(rows, start);
      for (int batch : List.of(KeyTimes.BLOCK, 8 * KeyTimes.BLOCK)) {
        forget(shape, target, start);
        fixture.fill(session, target, batch);
        assertThat(keys(shape)).as("batches of %d", batch).isEqualTo(expected);
      }
      requireBounds(rows, expected, start);
    }
    requireNewRowsComeAfter(shape);
  }

  @ParameterizedTest
  @MethodSource("dev.coatcheck.migrate.steps.RowShapes#odd")
  void theTableIsAsItWasAfterTheUndo(Shape shape) {
    fixture.execute(shape.create());
    Target target = fixture.target(shape.table(), shape.key(), shape.time());
    List<Long> before = things(target);
    fixture.apply(target, Phase.EXPAND, Phase.BACKFILL, Phase.INDEX, Phase.NOT_NULL);
    requireNewRowsComeAfter(shape);
    turnOutbox(target);
    requireNewRowsComeAfter(shape);

    forgetOutbox(target);
    fixture.undo(target, Phase.NOT_NULL, Phase.INDEX, Phase.BACKFILL, Phase.EXPAND);

    assertThat(things(target)).isEqualTo(before);
    fixture.execute(shape.fill("insert into %t (text) values ('after')"));
  }

  private static void requireNewRowsComeAfter(Shape shape) {
    fixture.execute(shape.fill("delete from %t where text like 'new%'"));
    fixture.execute(shape.fill("insert into %t (text) values ('new')"));
    assertThat(fixture.column(shape.fill("select snowflake_id from %t where text like 'new%'")))
        .isEqualTo(fixture.column(shape.fill("select max(snowflake_id) from %t")));
  }

  /** Columns, indexes, triggers and constraints. */
  private static List<Long> things(Target target) {
    return fixture.column(
        """
        select count(*) from pg_attribute where attrelid = %1$d and attnum > 0 and not attisdropped
        union all select count(*) from pg_index where indrelid = %1$d
        union all select count(*) from pg_trigger where tgrelid = %1$d
        union all select count(*) from pg_constraint where conrelid = %1$d
        """
            .formatted(target.oid()));
  }

  private static List<Long> keys(List<Row> rows, Checkpoint start) {
    List<@Nullable Long> created = new ArrayList<>();
    for (Row row : rows) {
      created.add(row.createdMillis().isPresent() ? row.createdMillis().getAsLong() - EPOCH : null);
    }
    return KeyModel.keys(created, start.t0Millis(), start.lastPosition());
  }

  private static void requireBounds(List<Row> rows, List<Long> keys, Checkpoint start) {
    long highest = rows.isEmpty() ? 0 : rows.getLast().id();
    assertThat(start.highId()).isEqualTo(highest);
    assertThat(keys).isSorted().doesNotHaveDuplicates();
    assertThat(keys).allMatch(key -> key > highest && key < start.t0Millis() << 22);
  }

  /** So that the same table can be filled again. */
  private static void forget(Shape shape, Target target, Checkpoint start) {
    fixture.execute(
        "set coatcheck.fill = '" + target.run() + "'",
        shape.fill("update %t set snowflake_id = null"),
        "update coatcheck_migration.checkpoint set last_id = 0, last_position = %d where table_oid = %d"
            .formatted(start.lastPosition(), target.oid()));
    forgetOutbox(target);
  }

  private static void forgetOutbox(Target target) {
    ObjectNames names = target.objects();
    fixture.execute("truncate " + names.ours("outbox_a") + ", " + names.ours("outbox_b"));
  }

  private static void turnOutbox(Target target) {
    new OutboxStore(fixture.source, fixture.gateway.database, false, target, fixture.mappings)
        .rotate();
  }

  private static List<Long> keys(Shape shape) {
    return fixture.column(shape.fill("select snowflake_id from %t order by %k"));
  }

  private static List<Row> rows(Shape shape) throws SQLException {
    String time = shape.time().map(column -> TableName.quoted(column.name())).orElse("null::date");
    try (Connection connection = fixture.connect();
        Statement statement = connection.createStatement();
        ResultSet result =
            statement.executeQuery(shape.fill("select %k, " + time + " from %t order by %k"))) {
      List<Row> rows = new ArrayList<>();
      while (result.next()) {
        String type = shape.time().map(Target.TimeColumn::type).orElse("date");
        rows.add(new Row(result.getLong(1), millis(result, type)));
      }
      return rows;
    }
  }

  private static OptionalLong millis(ResultSet row, String type) throws SQLException {
    String text = row.getString(2);
    if (text == null || text.endsWith("infinity")) {
      return OptionalLong.empty();
    }
    Instant instant =
        switch (type) {
          case "timestamptz" -> row.getObject(2, OffsetDateTime.class).toInstant();
          case "timestamp" -> row.getObject(2, LocalDateTime.class).toInstant(ZoneOffset.UTC);
          default -> row.getObject(2, LocalDate.class).atStartOfDay().toInstant(ZoneOffset.UTC);
        };
    return OptionalLong.of(instant.toEpochMilli());
  }
}
