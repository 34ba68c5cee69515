package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** Writes down every key that a row of {@code public.orders} was seen with, and compares. */
public final class Ledger {
  private final MigrationFixture fixture;

  private Ledger(MigrationFixture fixture) {
    this.fixture = fixture;
  }

  /** With a new table of so many rows, one a second. */
  static Ledger of(MigrationFixture fixture, long rows) {
    fixture.execute(
        Application.TABLE,
        "insert into orders (created_at, text)"
            + " select now() - make_interval(secs => 2 * %1$d - n), 'old'".formatted(rows)
            + " from generate_series(1, %d) n".formatted(rows));
    return on(fixture);
  }

  /** With a table that is there. */
  public static Ledger on(MigrationFixture fixture) {
    fixture.execute(
        "create table seen (id bigint, key bigint, primary key (id, key))",
        "create table mapped (id bigint, key bigint)");
    return new Ledger(fixture);
  }

  /** Once more, all rows. */
  public void note() {
    fixture.execute(
        "insert into seen select id, snowflake_id from orders where snowflake_id is not null"
            + " on conflict do nothing");
  }

  /** Among the keys that the backfill gave. */
  public void requireOrder() {
    assertThat(
            fixture.column(
                """
                select id from (
                  select id, snowflake_id <= lag(snowflake_id) over (order by id) as wrong
                    from orders where (snowflake_id >> 12) & 1023 = 1022) as o
                 where wrong
                """))
        .isEmpty();
  }

  /** Every row has one key that no other has, and never had another. */
  public void requireKeys() {
    fixture.execute("analyze");
    assertThat(fixture.column("select id from orders where snowflake_id is null")).isEmpty();
    assertThat(
            fixture.column(
                "select snowflake_id from orders group by snowflake_id having count(*) > 1"))
        .isEmpty();
    requireOneKeyPerRow();
  }

  /** No row was ever seen with two keys, and no key at two rows. */
  public void requireOneKeyPerRow() {
    assertThat(fixture.column("select id from seen group by id having count(*) > 1"))
        .as("rows that had two keys")
        .isEmpty();
    assertThat(fixture.column("select key from seen group by key having count(*) > 1"))
        .as("keys that two rows had")
        .isEmpty();
  }

  /** The legacy ID of every row leads to its key. */
  public void requireMappings() {
    record Mapped(long id, long key) {}
    List<Mapped> all =
        fixture.gateway.database.read(
            "test",
            sql -> {
              sql.execute("analyze coatcheck.alias, coatcheck.public_id");
              return sql.fetch(
                      """
                      select a.value::bigint, p.key
                        from coatcheck.alias a
                        join coatcheck.public_id p on p.token = a.token and p.type_id = a.type_id
                       where a.scheme = 'legacy'
                      """)
                  .map(row -> new Mapped(row.get(0, Long.class), row.get(1, Long.class)));
            });
    try (Connection connection = fixture.connect();
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into mapped select * from unnest(?::bigint[], ?::bigint[])")) {
      insert.setObject(1, all.stream().map(Mapped::id).toArray(Long[]::new));
      insert.setObject(2, all.stream().map(Mapped::key).toArray(Long[]::new));
      insert.execute();
      fixture.execute("analyze mapped");
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
    assertThat(fixture.column("select id from mapped group by id having count(*) > 1")).isEmpty();
    assertThat(
            fixture.column(
                "select o.id from orders o left join mapped m using (id)"
                    + " where m.key is distinct from o.snowflake_id"))
        .as("rows whose legacy ID does not lead to their key")
        .isEmpty();
  }
}
