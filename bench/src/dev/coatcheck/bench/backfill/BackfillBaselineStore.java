package dev.coatcheck.bench.backfill;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;

/** The tables to fill, and the yardstick: the same rows and mappings by two statements. */
final class BackfillBaselineStore implements AutoCloseable {
  private static final String TABLE =
      """
      create table public.<table> (
        id bigserial primary key, created_at timestamptz not null, customer int, note text)\
      """;

  private static final String ROWS =
      """
      insert into public.<table> (created_at, customer, note)
      select now() - interval '100 days' + n * interval '1 second', n % 1000, repeat('x', 60)
        from generate_series(1, ?) n\
      """;

  private static final String UPDATE =
      """
      update public.<table> as t
         set snowflake_id = ((extract(epoch from t.created_at) * 1000)::bigint - 1672531200000 << 22)
                            | (1022 << 12)\
      """;

  private static final String INSERT =
      """
      with made as (
        select t.id, t.snowflake_id as key, t.created_at,
               coatcheck.bucket_of_key(y.salt, t.snowflake_id) as bucket, y.salt, y.type_id
          from public.<table> t, coatcheck.type y where y.name = ?),
      mapped as (
        insert into public.bench_public_id (key, created_at, token, type_id, bucket)
        select key, created_at, gen_random_uuid(), type_id, bucket from made
        returning key, token)
      insert into public.bench_alias (token, type_id, bucket, scheme, value, namespace)
      select m.token, made.type_id,
             coatcheck.bucket_of_alias(made.salt, 'legacy', made.id::text), 'legacy', made.id::text,
             ''
        from mapped m join made using (key)\
      """;

  private static final String OUTBOX_IS_EMPTY =
      "select not exists (select from <outbox_a>) and not exists (select from <outbox_b>)";

  private final DatabaseSettings settings;
  private final Session session;

  BackfillBaselineStore(DatabaseSettings settings) {
    this.settings = settings;
    this.session = Session.open(settings, "coatcheck bench");
  }

  /** Another database of the same server. */
  DatabaseSettings createDatabase(String name) {
    session.alone("bench", "create database " + name);
    String url = settings.url().replaceFirst("/[^/?]+(\\?|$)", "/" + name + "$1");
    return new DatabaseSettings(
        url, settings.user(), settings.password(), settings.connectionsMax());
  }

  /** Whether every mapping of the table has been brought to the gateway. */
  boolean isOutboxEmpty(Target target) {
    return session.transaction(
        "bench", sql -> PlainSql.isTrue(sql, new TargetSql(target).fill(OUTBOX_IS_EMPTY)));
  }

  void createYardstick() {
    execute("create table public.bench_public_id (like coatcheck.public_id including all)");
    execute("create table public.bench_alias (like coatcheck.alias including all)");
  }

  void createTable(String table, int rows) {
    execute(on(TABLE, table));
    session.transaction("bench", sql -> PlainSql.execute(sql, on(ROWS, table), rows));
    session.alone("bench", "vacuum analyze public." + table);
  }

  /** As a table migration leaves it before its backfill, but for the triggers. */
  void addColumn(String table) {
    execute("alter table public." + table + " add column snowflake_id bigint");
  }

  /**
   * Empties the mappings of both sides and lets Postgres settle, so that each run finds the same.
   */
  void settle() {
    execute(
        "truncate coatcheck.public_id, coatcheck.alias, public.bench_public_id,"
            + " public.bench_alias");
    session.alone("bench", "checkpoint");
  }

  /** One UPDATE of all rows, and one statement that inserts the mapping and the alias of each. */
  void fill(String table, String type) {
    session.transaction(
        "bench",
        sql -> {
          PlainSql.execute(sql, on(UPDATE, table));
          return PlainSql.execute(sql, on(INSERT, table), type);
        });
  }

  private static String on(String statement, String table) {
    return statement.replace("<table>", table);
  }

  private void execute(String statement) {
    session.transaction("bench", sql -> PlainSql.execute(sql, statement));
  }

  @Override
  public void close() {
    session.close();
  }
}
