package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.run.MigrationFixture;
import java.util.List;

/** Writes down every key that a row of a table was seen with, and compares. */
public record Ledger(MigrationFixture fixture, String table, String key) {
  public static Ledger of(MigrationFixture fixture, String table, String key) {
    fixture.execute(
        "create table seen_%s (id bigint, key bigint, primary key (id, key))".formatted(table));
    return new Ledger(fixture, table, key);
  }

  /** Once more, all rows. */
  public void note() {
    fixture.execute(
        named(
            "insert into seen_<table> select <key>, snowflake_id from <table>"
                + " where snowflake_id is not null on conflict do nothing"));
  }

  /** Among the keys that a first backfill gave. */
  public void requireOrder() {
    requireNone(
        """
        select id from (
          select <key> as id, snowflake_id <= lag(snowflake_id) over (order by <key>) as wrong
            from <table> where (snowflake_id >> 12) & 1023 = 1022) as t
         where wrong
        """);
  }

  /** Every row has one key that no other has, and never had another. */
  public void requireKeys() {
    fixture.execute(named("analyze seen_<table>"));
    for (String question :
        List.of(
            "select <key> from <table> where snowflake_id is null",
            "select snowflake_id from <table> group by 1 having count(*) > 1",
            "select id from seen_<table> group by id having count(*) > 1",
            "select key from seen_<table> group by key having count(*) > 1")) {
      requireNone(question);
    }
  }

  /** The legacy ID of every row leads to its key. */
  void requireMappings(Type type) {
    assertThat(fixture.mapped(type)).containsAllEntriesOf(fixture.keys(table, key));
  }

  private void requireNone(String question) {
    assertThat(fixture.column(named(question))).as(named(question)).isEmpty();
  }

  private String named(String sql) {
    return sql.replace("<key>", key).replace("<table>", table);
  }
}
