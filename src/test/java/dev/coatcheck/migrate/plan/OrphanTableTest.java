package dev.coatcheck.migrate.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.TransactionStart;
import java.util.List;
import java.util.Optional;
import org.jooq.DSLContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Rows without a parent are counted within the transaction of the inspection, and end nothing of
 * it.
 */
class OrphanTableTest {
  private static final String STATE =
      "select concat_ws('|', current_setting('transaction_isolation'),"
          + " current_setting('transaction_read_only'), current_setting('statement_timeout'))";

  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();

  @BeforeEach
  void tables() {
    FIXTURE.clear();
    FIXTURE.execute(
        "create table parent (id bigint primary key)",
        "create table part (parent_id bigint)",
        "insert into parent values (1)",
        "insert into part values (1), (2), (3)",
        "create view slow as select p.parent_id from part p, pg_sleep(20)");
  }

  @Test
  void aCountLeavesTheSnapshotAsItWas() {
    requireKept("part", "2 rows of public.part, whose parent_id is 2, 3");
  }

  @Test
  @Tag("faults") // 5 s are too short
  void soDoesACountThatTakesTooLong() {
    requireKept("slow", "5 s are too short for the rows of public.slow");
  }

  private static void requireKept(String leaf, String said) {
    long parent = oid("parent");
    TableName table = new TableName("public", leaf);
    Child child =
        new Child(
            oid(leaf),
            1,
            leaf,
            table,
            "parent_id",
            "parent_id_snowflake_id",
            "p",
            List.of(new Child.Leaf(oid(leaf), table)));

    FIXTURE
        .source
        .database()
        .begunBy(TransactionStart.OF_SNAPSHOT)
        .write(
            "test",
            sql -> {
              PlainSql.execute(sql, "set local statement_timeout = '8s'");
              Optional<Precondition> found =
                  new OrphanTable(sql, parent, new TableName("public", "parent"), "id")
                      .precondition(List.of(child));

              assertThat(found).get().asString().contains(said);
              assertThat(state(sql)).isEqualTo("repeatable read|on|8s");
              return true;
            });
  }

  private static String state(DSLContext sql) {
    return PlainSql.row(sql, STATE, row -> row.getString(1));
  }

  private static long oid(String table) {
    return FIXTURE.sql().number("select '" + table + "'::regclass::oid::bigint");
  }
}
