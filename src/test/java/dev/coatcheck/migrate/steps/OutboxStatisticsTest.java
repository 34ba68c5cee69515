package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An outbox is nearly always empty, and that is what an autovacuum of it tells the planner. Then
 * many entries come at once.
 */
@ParameterizedClass
@ValueSource(booleans = {true, false})
class OutboxStatisticsTest {
  private static final int ENTRIES = 5_000;

  private final MigrationFixture fixture;
  private final Target target;
  private final OutboxStore store;

  OutboxStatisticsTest(boolean beside) {
    fixture = MigrationFixture.of(beside);
    fixture.execute("create table orders (id bigserial primary key, text text)");
    target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    store =
        new OutboxStore(fixture.source, fixture.gateway.database, beside, target, fixture.mappings);
    for (String outbox : List.of("outbox_a", "outbox_b")) {
      String name = target.objects().ours(outbox);
      fixture.execute(
          "alter table " + name + " set (autovacuum_enabled = false)",
          "insert into " + name + " (legacy, key) values (1, 1), (2, 2)",
          "delete from " + name,
          "analyze " + name);
    }
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /** A scan of the entries for each entry would take no more than its share, and minutes. */
  @Test
  void aDrainTakesTheOldestEntriesAndNoMoreThanItMay() {
    fixture.execute("insert into orders select from generate_series(1, %d)".formatted(ENTRIES));

    Outbox.Drained drained = store.take(2_000, false);

    assertThat(drained).isEqualTo(new Outbox.Drained(2_000, List.of()));
    assertThat(fixture.column("select min(legacy) from " + target.objects().ours("outbox_a")))
        .containsExactly(2_001L);
    assertThat(fixture.drain(target)).isEqualTo(ENTRIES - 2_000);
  }

  /** What the first table gave leaves room for the rest only. */
  @Test
  void bothTablesTogetherGiveNoMoreThanADrainMayTake() {
    fixture.execute("insert into orders select from generate_series(1, 150)");
    fixture.execute(
        "select nextval('%s')".formatted(target.objects().ours("switch").replace("'", "''")),
        "insert into orders select from generate_series(1, 150)");

    assertThat(store.take(200, false).entries()).isEqualTo(200);
    assertThat(store.take(200, false).entries()).isEqualTo(100);
  }
}
