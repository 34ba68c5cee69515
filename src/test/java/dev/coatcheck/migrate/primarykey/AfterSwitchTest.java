package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.run.MigrationFixture;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the page for the DBA says of an application's statements once the primary key has moved. */
class AfterSwitchTest {
  @RegisterExtension static final MigrationFixture FIXTURE = MigrationFixture.beside();

  private static final String GROUPED =
      "select o.id, o.created_at, count(*) from orders o join item i on i.order_id = o.id"
          + " group by o.id";

  @BeforeAll
  static void migrate() {
    FIXTURE.orders(10);
    FIXTURE.execute(
        "create table item (id bigserial primary key, order_id bigint references orders)",
        "insert into item (order_id) select 1 from generate_series(1, 3)",
        GROUPED);
    FIXTURE.switchKey(FIXTURE.run());
  }

  @Test
  void aGroupByTheOldKeyNamesItsOtherColumns() {
    assertThatThrownBy(() -> FIXTURE.execute(GROUPED))
        .hasStackTraceContaining("must appear in the GROUP BY clause");
    assertThatCode(() -> FIXTURE.execute(GROUPED + ", o.created_at")).doesNotThrowAnyException();
    assertThatCode(
            () ->
                FIXTURE.execute("select o.id, o.created_at from orders o group by o.snowflake_id"))
        .doesNotThrowAnyException();
  }

  @Test
  void aConflictIsNamedByItsColumnAndNotByThePrimaryKey() {
    FIXTURE.execute("insert into orders (id) values (1) on conflict (id) do nothing");
    assertThatThrownBy(
            () ->
                FIXTURE.execute(
                    "insert into orders (id) values (1)"
                        + " on conflict on constraint orders_pkey do nothing"))
        .hasStackTraceContaining("duplicate key value violates unique constraint");
  }

  @Test
  void aReferenceWithoutColumnsMeansTheNewKey() {
    FIXTURE.execute(
        "create table bare (o bigint references orders)",
        "create table named (o bigint references orders (id))");

    assertThat(definition("bare")).endsWith("REFERENCES orders(snowflake_id)");
    assertThat(definition("named")).endsWith("REFERENCES orders(id)");
    FIXTURE.execute("drop table bare, named");
  }

  /** The last sequence that was used is ours from the first step on, long before the switch. */
  @Test
  void whatAnInsertReturnsIsWhatItAsksForButLastvalIsOurs() {
    List<String> answers =
        texts(
            "with made as (insert into orders (created_at) values (now())"
                + " returning id, snowflake_id)"
                + " select format('%s %s %s', id = currval('orders_id_seq'), snowflake_id > id,"
                + " lastval() = id) from made");

    assertThat(answers).containsExactly("t t f");
  }

  @Test
  void aChildIsWrittenByEitherColumnAndTheTwinWins() {
    FIXTURE.execute(
        "insert into item (order_id) values (2)",
        "insert into item (order_id_snowflake_id) select snowflake_id from orders where id = 3",
        "update item set order_id = 4, order_id_snowflake_id ="
            + " (select snowflake_id from orders where id = 5) where order_id = 2");

    assertThat(
            texts(
                "select i.order_id from item i join orders o"
                    + " on o.snowflake_id = i.order_id_snowflake_id and o.id = i.order_id"
                    + " order by 1"))
        .containsExactly("1", "1", "1", "3", "5");
  }

  private static String definition(String table) {
    return texts(
            "select pg_get_constraintdef(oid) from pg_constraint where contype = 'f'"
                + " and conrelid = '%s'::regclass".formatted(table))
        .getFirst();
  }

  private static List<String> texts(String query) {
    return FIXTURE.sql().texts(query);
  }
}
