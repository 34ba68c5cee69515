package dev.coatcheck.migrate.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.backfill.FillOnDemandTable;
import dev.coatcheck.migrate.backfill.SetAside;
import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A row that its table refuses keeps no other row from its key, and its own key is kept for it. */
class RefusedRowsTest {
  private static final int ROWS = 2_000;
  private static final List<Long> REFUSED = List.of(5L, 700L, 701L, 2_000L);

  /** What refuses the update of four rows, and how it is taken away. */
  enum Refusal {
    TRIGGER(
        """
        create function frozen() returns trigger language plpgsql as $$ begin
          if new.id in (5, 700, 701, 2000) then raise exception 'row % is frozen', new.id; end if;
          return new; end $$;
        create trigger frozen before update on orders for each row execute function frozen()\
        """,
        "drop trigger frozen on orders", "is frozen"),

    /** At the commit, if nobody asks before. */
    DEFERRED_TRIGGER(
        """
        create function frozen() returns trigger language plpgsql as $$ begin
          if new.id in (5, 700, 701, 2000) then raise exception 'row % is frozen', new.id; end if;
          return null; end $$;
        create constraint trigger frozen after update on orders deferrable initially deferred
          for each row execute function frozen()\
        """,
        "drop trigger frozen on orders", "is frozen"),

    /** No error at all: the update passes the row by. */
    TRIGGER_RETURNS_NULL(
        """
        create function frozen() returns trigger language plpgsql as $$ begin
          if new.id in (5, 700, 701, 2000) then return null; end if;
          return new; end $$;
        create trigger frozen before update on orders for each row execute function frozen()\
        """,
        "drop trigger frozen on orders",
        "kept the row as it was"),

    /** The update changes the row, but not the key. */
    TRIGGER_RETURNS_OLD(
        """
        create function frozen() returns trigger language plpgsql as $$ begin
          if new.id in (5, 700, 701, 2000) then return old; end if;
          return new; end $$;
        create trigger frozen before update on orders for each row execute function frozen()\
        """,
        "drop trigger frozen on orders",
        "kept the row as it was"),
    NOT_VALID_CHECK(
        """
        alter table orders add column amount int default 1;
        update orders set amount = -1 where id in (5, 700, 701, 2000);
        alter table orders add constraint positive check (amount > 0) not valid\
        """,
        "alter table orders drop constraint positive",
        "violates check constraint \"positive\"");

    private final String made;
    private final String mended;
    private final String error;

    Refusal(String made, String mended, String error) {
      this.made = made;
      this.mended = mended;
      this.error = error;
    }
  }

  @ParameterizedTest
  @EnumSource
  void theRestGoesOnAndARetryGivesTheRowsTheirOwnKeys(Refusal refusal) {
    boolean beside = refusal == Refusal.TRIGGER || refusal == Refusal.TRIGGER_RETURNS_NULL;
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      fixture.orders(ROWS);
      fixture.execute(refusal.made);
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow())
          .contains("4 rows were set aside", "ID 5", refusal.error, "retry");
      assertThat(fixture.column("select id from orders where snowflake_id is null"))
          .isEqualTo(REFUSED);
      assertThat(failed.progress().rowsDone()).isEqualTo(ROWS - 4);
      assertThat(failed.progress().counts().setAside()).isEqualTo(4);
      List<SetAside> setAside = fixture.migrations().journal().setAside(run.id());
      assertThat(setAside).extracting(SetAside::legacy).isEqualTo(REFUSED);
      assertThat(setAside)
          .allSatisfy(row -> assertThat(row.cause()).isEqualTo(SetAside.Cause.REFUSED))
          .allSatisfy(row -> assertThat(row.error()).contains(refusal.error));
      FillOnDemandTable lookUp = new FillOnDemandTable(fixture.source, run.target());
      assertThatThrownBy(() -> lookUp.find(700)).isInstanceOf(DatabaseUnavailable.class);

      fixture.execute(refusal.mended);
      Map<Long, Long> kept =
          setAside.stream().collect(Collectors.toMap(SetAside::legacy, SetAside::key));
      assertThat(lookUp.find(700)).isEqualTo(OptionalLong.of(requireNonNull(kept.get(700L))));
      fixture.execute("delete from orders where id = 701");
      retry(fixture, run);
      fixture.await(run, RunState.DONE);

      for (long id : List.of(5L, 700L, 2_000L)) {
        assertThat(fixture.count("select snowflake_id from orders where id = " + id))
            .isEqualTo(kept.get(id));
      }
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
      TableMigration run =
          fixture.startWith(throttleSettings -> MigrationFixture.rate(throttleSettings, 100));
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
      fixture.execute(
          """
          create function frozen() returns trigger language plpgsql as $$ begin
            raise exception 'the table is frozen'; end $$;
          create trigger frozen before update on orders for each row execute function frozen()\
          """);
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 0));

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow())
          .contains("rows were set aside", "the table is frozen");
      assertThat(failed.progress().counts().setAside()).isBetween(1_000L, 1_500L);
      assertThat(fixture.migrations().journal().setAside(run.id())).hasSize(100);
      fixture.execute("drop trigger frozen on orders");
      retry(fixture, run);
      fixture.await(run, RunState.DONE);
      requireNextThousand(fixture);
    }
  }

  private static void retry(MigrationFixture fixture, TableMigration run) {
    MigrationFixture.done(fixture.migrations().retry(run.id(), Asked.by(MigrationFixture.ACTOR)));
  }

  private static void requireNextThousand(MigrationFixture fixture) {
    fixture.execute("insert into orders select from generate_series(1, 1000)");
    fixture.requireOrderedKeys();
    fixture.await(
        () -> {
          long mapped =
              fixture.gateway.database.read(
                  "test",
                  sql ->
                      sql.fetchSingle("select count(*) from coatcheck.public_id")
                          .get(0, Long.class));
          return mapped >= fixture.count("select count(*) from orders");
        });
  }
}
