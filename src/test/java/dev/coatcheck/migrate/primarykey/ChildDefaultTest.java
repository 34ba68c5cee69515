package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A default of a column that refers to the table means the same row by the column and its twin. */
class ChildDefaultTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  @Tag("faults")
  void aForeignKeyOfAPartitionedTableSetsTheSameDefaultAfterTheSwitch() {
    fixture.orders(20);
    fixture.execute(
        "create table line (part int, order_id int not null default 7 references orders"
            + " on delete set default) partition by list (part)",
        "create table line_1 partition of line for values in (1)",
        "insert into line select 1, id from orders");
    TableMigration run = fixture.run();
    fixture.switchKey(run);
    fixture.execute(
        "create table line_2 partition of line for values in (2)",
        "insert into line values (2, 4)");

    fixture.execute("delete from orders where id in (3, 4)");

    assertThat(parents("line where part = 2")).isEqualTo("7");
    assertThat(parents("line where part = 1 and order_id < 9")).isEqualTo("1,2,5,6,7,7,7,8");
    String seventh = key(7);
    fixture.contract(run);
    fixture.execute("insert into line (part) values (1), (2)");
    assertThat(
            fixture.texts(
                "select part from line where order_id_snowflake_id = %s order by 1"
                    .formatted(seventh)))
        .containsExactly("1", "1", "1", "1", "2", "2");
  }

  /** As in a run that an older release began. */
  @Test
  void aTwinWithoutADefaultGetsItAtTheSwitch() {
    fixture.orders(20);
    fixture.execute(
        "create table line (part int, order_id int not null default 7 references orders"
            + " on delete set default) partition by list (part)",
        "create table line_1 partition of line default",
        "insert into line select 1, id from orders");
    TableMigration run = fixture.run();
    fixture.execute("alter table only line alter column order_id_snowflake_id drop default");
    fixture.switchKey(run);

    fixture.execute("delete from orders where id = 3");

    assertThat(parents("line where order_id between 2 and 7")).isEqualTo("2,4,5,6,7,7");
  }

  @Test
  void aRowThatIsWrittenByItsTwinAloneHasTheRowOfTheTwin() {
    fixture.orders(20);
    fixture.execute("create table line (n int, order_id int not null default 1 references orders)");
    TableMigration run = fixture.run();
    requireWritten(1);
    fixture.switchKey(run);
    requireWritten(2);
    fixture.undo(run, Phase.SWITCH);
    requireWritten(3);
    fixture.execute("alter table line rename column order_id to of_order");
    fixture.execute(insertByTwin(4));
    fixture.execute("alter table line rename column of_order to order_id");
    assertThat(parents("line where n = 4")).isEqualTo("9");
  }

  private void requireWritten(int n) {
    fixture.execute(
        insertByTwin(n),
        "insert into line (n, order_id) values (%d, 8)".formatted(n),
        "insert into line (n) values (%d)".formatted(n));
    assertThat(parents("line where n = " + n)).isEqualTo("1,8,9");
  }

  private static String insertByTwin(int n) {
    return "insert into line (n, order_id_snowflake_id) select %d, snowflake_id from orders where id = 9"
        .formatted(n);
  }

  @Test
  @Tag("faults")
  void aDefaultThatChangesIsFollowedAtTheSwitchAndAtTheEnd() {
    fixture.orders(20);
    fixture.execute(
        "create table line (n int, order_id int default 7 references orders on delete set default)",
        "create table plain (n int, order_id int default 1 references orders)",
        "insert into line select n, n from generate_series(1, 20) n");
    TableMigration run = fixture.run();
    fixture.execute("alter table line alter column order_id set default 8");
    fixture.switchKey(run);
    fixture.execute("delete from orders where id = 3");
    assertThat(parents("line where n = 3")).isEqualTo("8");
    fixture.execute(
        "alter table line alter column order_id set default 10",
        "alter table plain alter column order_id drop default");
    String tenth = key(10);

    fixture.contract(run);

    fixture.execute(
        "delete from orders where snowflake_id = (select order_id_snowflake_id from line where n ="
            + " 4)",
        "insert into line (n) values (21)",
        "insert into plain (n) values (1)");
    assertThat(fixture.texts("select order_id_snowflake_id::text from line where n in (4, 21)"))
        .containsExactly(tenth, tenth);
    assertThat(fixture.count("select count(*) from plain where order_id_snowflake_id is null"))
        .isOne();
  }

  private String key(int id) {
    return fixture.texts("select snowflake_id::text from orders where id = " + id).getFirst();
  }

  /** The legacy IDs of the rows that both columns refer to. */
  private String parents(String rows) {
    return fixture
        .texts(
            "select coalesce(string_agg(p.id::text, ',' order by p.id), '') from (select * from %s) c"
                    .formatted(rows)
                + " join (select o.id, o.snowflake_id from orders o) p"
                + " on p.snowflake_id = c.order_id_snowflake_id and p.id = c.order_id")
        .getFirst();
  }
}
