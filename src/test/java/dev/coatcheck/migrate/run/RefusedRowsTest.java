package dev.coatcheck.migrate.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.table.FillOnDemandTable;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A row that its table refuses keeps no other row from its key, and its own key is kept for it. */
@Tag("faults")
class RefusedRowsTest {
  private static final int ROWS = 2_000;

  /** What an update of each is refused with: the last one says nothing, and only keeps the row. */
  private static final Map<Long, String> REFUSED =
      new TreeMap<>(
          Map.of(
              5L, "is frozen",
              700L, "is frozen",
              701L, "is late",
              1_100L, "kept the row as it was",
              1_500L, "kept the row as it was",
              2_000L, "violates check constraint \"positive\""));

  private static final List<String> REFUSING =
      List.of(
          """
          create function frozen() returns trigger language plpgsql as $$ begin
            if new.id in (5, 700) then raise exception 'row % is frozen', new.id; end if;
            if new.id = 1100 then return null; end if;
            if new.id = 1500 then return old; end if;
            return new; end $$\
          """,
          "create trigger frozen before update on orders for each row execute function frozen()",
          // At the commit, if nobody asks before.
          """
          create function late() returns trigger language plpgsql as $$ begin
            if new.id = 701 then raise exception 'row % is late', new.id; end if;
            return null; end $$\
          """,
          "create constraint trigger late after update on orders deferrable initially deferred"
              + " for each row execute function late()",
          "alter table orders add column amount int default 1",
          "update orders set amount = -1 where id = 2000",
          "alter table orders add constraint positive check (amount > 0) not valid");

  @Test
  void theRestGoesOnAndARetryGivesTheRowsTheirOwnKeys() {
    refuse(false);
  }

  @Test
  void soDoesTheRestOfATableBesideTheMappings() {
    refuse(true);
  }

  private static void refuse(boolean beside) {
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      fixture.orders(ROWS);
      REFUSING.forEach(fixture::execute);
      TableMigration run = fixture.startWith(UnaryOperator.identity());

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow())
          .contains("6 rows were set aside", "ID 5", "is frozen", "retry");
      assertThat(fixture.column("select id from orders where snowflake_id is null order by id"))
          .containsExactlyElementsOf(REFUSED.keySet());
      assertThat(failed.progress().rowsDone()).isEqualTo(ROWS - REFUSED.size());
      assertThat(failed.progress().counts().setAside()).isEqualTo(REFUSED.size());
      List<SetAside> setAside = fixture.migrations().journal().setAside(run.id());
      assertThat(setAside).extracting(SetAside::legacy).containsExactlyElementsOf(REFUSED.keySet());
      assertThat(setAside)
          .allSatisfy(row -> assertThat(row.cause()).isEqualTo(SetAside.Cause.REFUSED))
          .allSatisfy(row -> assertThat(row.error()).contains(REFUSED.get(row.legacy())));
      FillOnDemandTable lookUp = new FillOnDemandTable(fixture.source, run.target());
      for (long id : REFUSED.keySet()) {
        assertThatThrownBy(() -> lookUp.find(id)).isInstanceOf(DatabaseUnavailable.class);
      }

      fixture.execute(
          "drop trigger frozen on orders",
          "drop trigger late on orders",
          "alter table orders drop constraint positive");
      Map<Long, Long> kept =
          setAside.stream().collect(Collectors.toMap(SetAside::legacy, SetAside::key));
      assertThat(lookUp.find(700)).isEqualTo(OptionalLong.of(requireNonNull(kept.get(700L))));
      fixture.execute("delete from orders where id = 701");
      kept.remove(701L);
      fixture.retry(run);
      fixture.await(run, RunState.DONE);

      kept.forEach(
          (id, key) ->
              assertThat(fixture.count("select snowflake_id from orders where id = " + id))
                  .isEqualTo(key));
      assertThat(fixture.migrations().journal().setAside(run.id())).isEmpty();
      assertThat(fixture.now(run).progress().counts().setAside()).isZero();
      assertThat(fixture.now(run).progress().rowsDone())
          .as("all but the row that the look-up filled, and the row that is gone")
          .isEqualTo(ROWS - 2);
      requireNextThousand(fixture);
    }
  }

  /** A trigger that refuses them all ends the run before it has set the whole table aside. */
  @Test
  void aTableThatRefusesEveryRowStopsTheRunAtAThousand() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.orders(3_000);
      TableMigration run = fixture.startInTheMiddle(100);
      fixture.execute(
          """
          create function frozen() returns trigger language plpgsql as $$ begin
            raise exception 'the table is frozen'; end $$;
          create trigger frozen before update on orders for each row execute function frozen()\
          """);
      fixture.rate(run, 0);

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow())
          .contains("rows were set aside", "the table is frozen");
      assertThat(failed.progress().counts().setAside()).isBetween(1_000L, 1_500L);
      assertThat(fixture.migrations().journal().setAside(run.id())).hasSize(100);
      fixture.execute("drop trigger frozen on orders");
      fixture.retry(run);
      fixture.await(run, RunState.DONE);
      requireNextThousand(fixture);
    }
  }

  private static void requireNextThousand(MigrationFixture fixture) {
    fixture.execute("insert into orders select from generate_series(1, 1000)");
    fixture.requireOrderedKeys();
    fixture.await(() -> fixture.aliases() >= fixture.count("select count(*) from orders"));
  }
}
