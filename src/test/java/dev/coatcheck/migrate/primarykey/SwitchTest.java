package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The primary key moves to the new keys, back, and there again. */
class SwitchTest {
  private static final int ROWS = 2_000;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void thePrimaryKeyMovesThereBackAndThereAgain(boolean beside) {
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      TableMigration run = migrated(fixture);
      fixture.execute(
          "comment on constraint orders_pkey on orders is 'kept'",
          "comment on constraint item_order_id_fkey on item is 'kept too'",
          "alter table orders cluster on orders_pkey");

      for (int i = 0; i < 2; i++) {
        fixture.switchKey(run);

        requirePrimaryKey(fixture, "snowflake_id");
        assertThat(remark(fixture, "orders_pkey")).containsExactly("kept");
        assertThat(remark(fixture, "item_order_id_fkey")).containsExactly("kept too");
        requireUsable(fixture);

        fixture.undo(run, Phase.SWITCH);

        requirePrimaryKey(fixture, "id");
        assertThat(remark(fixture, "orders_pkey")).containsExactly("kept");
        requireUsable(fixture);
      }
      fixture.undo(run, Phase.EXPAND);

      requirePrimaryKey(fixture, "id");
      requireUsable(fixture);
      assertThat(indexes(fixture, "orders")).containsExactly("orders_pkey");
      assertThat(
              fixture
                  .sql()
                  .texts(
                      "select i.indexrelid::regclass from pg_index i where i.indisclustered"
                          + " and i.indrelid = 'orders'::regclass"))
          .containsExactly("orders_pkey");
    }
  }

  private static TableMigration migrated(MigrationFixture fixture) {
    fixture.orders(ROWS);
    fixture.execute(
        "create table item (id bigserial primary key,"
            + " order_id bigint not null references orders on delete cascade)",
        "insert into item (order_id) select 1 + n %% %d from generate_series(1, 5000) n"
            .formatted(ROWS));
    return fixture.run(fixture.plan("orders", Optional.of("created_at")));
  }

  private static void requirePrimaryKey(MigrationFixture fixture, String column) {
    assertThat(
            fixture
                .sql()
                .texts(
                    "select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
                        + " and conrelid = 'orders'::regclass"))
        .containsExactly("PRIMARY KEY (" + column + ")");
    assertThat(
            fixture
                .sql()
                .texts(
                    "select pg_get_constraintdef(oid) from pg_constraint where contype = 'f'"
                        + " and conrelid = 'item'::regclass and conkey = '{2}'"))
        .containsExactly("FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE CASCADE");
  }

  /** As the application uses both tables. */
  private static void requireUsable(MigrationFixture fixture) {
    String id =
        fixture
            .sql()
            .texts("insert into orders (created_at) values (now()) returning id")
            .getFirst();
    fixture.execute(
        "insert into item (order_id) values (%s)".formatted(id),
        "insert into orders (id, created_at) values (%s, now()) on conflict (id) do nothing"
            .formatted(id),
        "delete from orders where id = " + id);
    assertThat(fixture.count("select count(*) from item where order_id = " + id)).isZero();
  }

  private static List<String> remark(MigrationFixture fixture, String constraint) {
    return fixture
        .sql()
        .texts(
            "select obj_description(oid, 'pg_constraint') from pg_constraint where conname = '"
                + constraint
                + "'");
  }

  private static List<String> indexes(MigrationFixture fixture, String table) {
    return fixture
        .sql()
        .texts(
            "select indexrelid::regclass from pg_index where indrelid = '%s'::regclass"
                .formatted(table));
  }
}
