package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an undo leaves behind: nothing but the archive. */
class UndoTest {
  /** A runner that was killed may have applied a step without having written that down. */
  @Test
  void stepsThatNobodyWroteDownAreUndoneToo() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.execute(
          "create table orders (id bigserial primary key, created_at timestamptz default now())",
          "insert into orders select from generate_series(1, 100)");
      List<Long> before = things(fixture);
      TableMigration run = fixture.run(fixture.plan("orders", Optional.of("created_at")));
      fixture.execute("update coatcheck.table_migration_step set state = 'pending'");

      fixture.undo(run, Phase.EXPAND);

      assertThat(things(fixture)).isEqualTo(before);
      fixture.execute("insert into orders default values");
    }
  }

  /** Columns, indexes, triggers and constraints of the table, and functions and tables of ours. */
  private static List<Long> things(MigrationFixture fixture) {
    return fixture.column(
        """
        select count(*) from pg_attribute
         where attrelid = 'orders'::regclass and attnum > 0 and not attisdropped
        union all select count(*) from pg_index where indrelid = 'orders'::regclass
        union all select count(*) from pg_trigger where tgrelid = 'orders'::regclass
        union all select count(*) from pg_constraint where conrelid = 'orders'::regclass
        union all select count(*) from pg_proc
         where pronamespace = to_regnamespace('coatcheck_migration')
        union all select count(*) from pg_class
         where relnamespace = to_regnamespace('coatcheck_migration')
           and relkind in ('S', 'r') and relname not like 'archive%'
           and relname not in ('checkpoint', 'known_table', 'set_aside', 'unbound_foreign_key')
        """);
  }
}
