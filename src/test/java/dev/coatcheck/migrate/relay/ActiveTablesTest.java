package dev.coatcheck.migrate.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is known of the tables may be old, and never makes a row unknown that has its triggers. */
class ActiveTablesTest {
  private static final int TYPE = 7;
  private static final int OTHER_TYPE = 8;
  private static final TableName TABLE = new TableName("public", "orders");
  private static final Target ORDERS =
      new Target(
          UUID.randomUUID(),
          TABLE,
          1,
          "id",
          "bigint",
          Optional.empty(),
          new Target.Anchors(TABLE, 1, 0),
          SearchPath.USUAL,
          List.of());

  private final AtomicInteger readings = new AtomicInteger();
  private List<ActiveTable> stored = List.of();
  private boolean isReachable = true;
  private final ActiveTables active = new ActiveTables(this::read);

  @Test
  void triggersThatCameSinceTheLastReadingAreSeen() {
    stored = List.of(table(false));
    active.refresh();
    stored = List.of(table(true));

    assertThat(active.mayHave(TYPE)).isTrue();
    assertThat(active.withTriggers(TYPE)).contains(table(true));
  }

  @Test
  void triggersThatAreKnownAreNotLookedForAgain() {
    stored = List.of(table(true));
    active.refresh();

    assertThat(active.withTriggers(TYPE)).contains(table(true));
    assertThat(readings).hasValue(1);
  }

  @Test
  void anyTypeMayHaveATableWhileTheTablesAreNotKnown() {
    assertThat(active.mayHave(TYPE)).as("not read yet").isTrue();
    active.refresh();
    assertThat(active.mayHave(TYPE)).as("read").isFalse();
    isReachable = false;
    active.refresh();
    assertThat(active.mayHave(TYPE)).as("can't be read").isTrue();
    assertThatThrownBy(() -> active.withTriggers(TYPE)).isInstanceOf(DatabaseUnavailable.class);
    isReachable = true;
    assertThat(active.withTriggers(TYPE)).isEmpty();
    assertThat(active.mayHave(TYPE)).as("read again").isFalse();
  }

  @Test
  void aFailedReadingKeepsTheOldTables() {
    stored = List.of(table(true));
    active.refresh();
    isReachable = false;
    active.refresh();

    assertThat(active.withTriggers(TYPE)).contains(table(true));
    assertThat(active.all()).containsExactly(table(true));
    assertThat(active.mayHave(OTHER_TYPE)).isTrue();
  }

  private List<ActiveTable> read() {
    readings.incrementAndGet();
    if (!isReachable) {
      throw new DatabaseUnavailable("as told");
    }
    return stored;
  }

  private static ActiveTable table(boolean hasTriggers) {
    return new ActiveTable(1, "gateway", ORDERS, TYPE, hasTriggers, true, false);
  }
}
