package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.Endings.Mode;
import dev.coatcheck.ids.ending.Endings.Request;
import dev.coatcheck.ids.ending.EraseOutcome;
import dev.coatcheck.ids.ending.Erasure;
import dev.coatcheck.ids.ending.Erasures;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.ErasedRowsTable;
import dev.coatcheck.migrate.table.ErasedRowsTable.ErasedRow;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.TestSession;
import dev.coatcheck.postgres.sql.TestSql;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Promise 21 in sources: archives and outboxes forget, and no run brings an erased row back. */
class SourceErasureTest {
  private static final long LEGACY = 731_000_012_345L;

  /** As many as a round reads, and older than all others. */
  private static final String MANY_OF_A_SOURCE_THAT_IS_GONE =
      """
      with erased as (
        insert into coatcheck.erasure (token, type_id, erased_at, complete_at)
        select gen_random_uuid(), type_id, now() - interval '1 day', now()
          from coatcheck.type, generate_series(1, 500) where name = 'charge'
        returning token, type_id)
      insert into coatcheck.erasure_task (token, type_id, key, legacy_ids, source)
      select token, type_id, 1, '{}', 'gone' from erased
      """;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void aSourceForgetsWhatWasErasedAndNoLaterRunBringsItBack() {
    ordersWithCanary();
    TableMigration first = fixture.run();
    Mapping erased = mapping();
    long key = ((Key.Bigint) erased.key()).value();
    fixture.undo(first, Phase.EXPAND);
    assertThat(found(fixture.sql(), key)).isNotEmpty();
    String aside =
        sql(first, "insert into <schema>.set_aside values (<run>, 60, %d, '', '')".formatted(key));
    fixture.execute(
        "delete from orders where id = " + LEGACY,
        sql(first, "insert into <archive> (legacy, key) values (60, %d)".formatted(key)),
        aside);
    String told = "wrong_mapping: 1, for instance " + LEGACY;
    gatewaySql()
        .execute(
            "update coatcheck.table_migration set reason = '%s'".formatted(told),
            "update coatcheck.table_migration_event set detail = '%s'".formatted(told),
            "update coatcheck.table_migration_step set error = '%s; row with ID %d'"
                .formatted(told, LEGACY),
            MANY_OF_A_SOURCE_THAT_IS_GONE);

    Erasure open = erase(erased);

    assertThat(open.waitsFor()).containsExactly(MigrationFixture.OTHER);
    assertThat(open.completeAt()).isEmpty();
    awaitRound(first);
    fixture.execute(aside);
    awaitRound(first);
    assertThat(fixture.column(sql(first, "select legacy from <archive> where key = " + key)))
        .as("the archive is read as a whole once, at the end")
        .containsExactly(60L);
    gatewaySql()
        .execute(
            "update coatcheck.erasure set erased_at = erased_at - interval '20 seconds'",
            "delete from coatcheck.change");
    fixture.await(() -> find(erased).completeAt().isPresent());
    assertThat(found(fixture.sql(), key)).isEmpty();
    assertThat(found(gatewaySql(), key)).isEmpty();

    // The row is back, as after a restore of the source.
    fixture.execute("insert into orders (id) values (%d)".formatted(LEGACY));
    TableMigration second = fixture.plan();
    fixture.start(second);
    assertThat(fixture.failure(second))
        .contains("1 rows were set aside", "its public ID was erased", "Delete these rows");
    assertThat(fixture.count("select count(*) from orders where snowflake_id is null")).isOne();
    fixture.execute("delete from orders where id = " + LEGACY);
    fixture.retry(second);
    fixture.await(second, RunState.DONE);
    assertThat(fixture.gateway.resolver.resolveAlias(fixture.type, legacyId().alias()))
        .isInstanceOf(ResolveOutcome.Erased.class);
  }

  /** What waits in an outbox is deleted there, or left out by the relay. */
  @Test
  void anOutboxBringsNoErasedRowBack() {
    fixture.orders(3);
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    fixture.execute("insert into orders (id) values (%d)".formatted(LEGACY));
    long key = fixture.count("select snowflake_id from orders where id = " + LEGACY);
    fixture.outbox(target).publish(List.of(key));
    Erasure done = erase(mapping());
    assertThat(done.waitsFor()).isEmpty();

    assertThat(fixture.outbox(target).drain().refused()).isEmpty();
    assertThat(fixture.gateway.lookup.find(fixture.type, new Key.Bigint(key))).isEmpty();

    fixture.execute(
        new TargetSql(target)
            .fill("insert into <outbox_b> (legacy, key) values (null, %d), (7, 8)".formatted(key)));
    try (Session session = Session.open(fixture.settings, "test")) {
      new ErasedRowsTable(session, target).delete(List.of(new ErasedRow(key, List.of(LEGACY))));
    }
    assertThat(
            fixture.column(
                new TargetSql(target).fill("select key from <outbox_b> where legacy = 7")))
        .containsExactly(8L);
    assertThat(fixture.column(new TargetSql(target).fill("select key from <outbox_b>")))
        .doesNotContain(key);
  }

  /** The archive rightly lacks it. */
  @Test
  @Tag("faults")
  void aRowThatIsKeptAfterItsErasureStopsNoContract() {
    ordersWithCanary();
    TableMigration run = fixture.switchKey(fixture.run());
    try (TestSession reader = fixture.sql().begin("lock table orders in row share mode")) {
      MigrationFixture.done(fixture.contract(run, List.of("old_column", "row_shape")));
      fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());
      fixture.execute("create view recent as select id from orders");
      reader.commit();
    }
    assertThat(fixture.failure(run)).contains("these use the column");
    String archived = sql(run, "select count(*) from <archive> where legacy = " + LEGACY);
    assertThat(fixture.count(archived)).isOne();

    Erasure _ = erase(mapping());
    fixture.await(() -> fixture.count(archived) == 0);
    fixture.execute("drop view recent");
    fixture.retry(run);

    fixture.await(run, RunState.CONTRACTED);
    assertThat(fixture.count(archived)).isZero();
  }

  /** A transaction that sends some statements for each of a thousand rows ends at its deadline. */
  @Test
  void anErasureOfManyTakesFewStatements() {
    ordersWithCanary();
    fixture.run();
    Mapping survivor = mapping();
    long seventh = fixture.count("select snowflake_id from orders where id = 7");
    List<Request> merges =
        LongStream.rangeClosed(1, 50)
            .mapToObj(id -> mapping(id).publicId().toString())
            .<Request>map(id -> new Request.Merge(id, survivor.publicId().toString()))
            .toList();
    Endings.Result _ = fixture.gateway.end(merges, Mode.ALL_OR_NONE, Actor.operator());
    gatewaySql()
        .execute(
            "create extension if not exists pg_stat_statements",
            "create table tasks (key bigint, legacy_ids bigint[])",
            "create rule kept as on insert to coatcheck.erasure_task do also"
                + " insert into tasks values (new.key, new.legacy_ids)",
            "update coatcheck.table_migration_event set detail ="
                + " 'row with ID 7; for instance 50; for instance 77'");
    long before = statements();

    Erasure erased =
        erasure(
            erasures()
                .erase(survivor.publicId().toString(), true, AllowedTypes.ALL, Actor.operator()));

    assertThat(statements() - before).isBetween(1L, 20L);
    assertThat(erased.waitsFor()).containsExactly(MigrationFixture.OTHER);
    assertThat(gatewaySql().numbers("select key from tasks where legacy_ids = '{7}'"))
        .containsExactly(seventh);
    assertThat(gatewaySql().number("select count(*) from tasks")).isEqualTo(51);
    assertThat(gatewaySql().number("select count(*) from coatcheck.erased_alias")).isEqualTo(51);
    assertThat(gatewaySql().number("select count(*) from coatcheck.alias")).isOne();
    assertThat(gatewaySql().texts("select distinct detail from coatcheck.table_migration_event"))
        .contains("row with ID ?; for instance ?; for instance 77")
        .noneMatch(detail -> detail.contains("ID 7"));
  }

  private long statements() {
    return gatewaySql()
        .number(
            """
            select coalesce(sum(calls), 0)::bigint from pg_stat_statements
             where query ~ '^(insert|delete|update)' and query ~ '(alias|erasure_task|table_migration)'
               and dbid = (select oid from pg_database where datname = current_database())\
            """);
  }

  /** Each round deletes what is set aside. */
  private void awaitRound(TableMigration run) {
    String left = sql(run, "select count(*) from <schema>.set_aside where run = <run>");
    fixture.await(() -> fixture.count(left) == 0);
  }

  private static String sql(TableMigration run, String statement) {
    return new TargetSql(run.target()).fill(statement);
  }

  private void ordersWithCanary() {
    fixture.orders(50);
    fixture.execute(
        "insert into orders (id) values (%d), (%d)".formatted(LEGACY, LEGACY + 1_000_000));
  }

  private OlderId.LegacyId legacyId() {
    return new OlderId.LegacyId(fixture.type, LEGACY);
  }

  private Mapping mapping() {
    return mapping(LEGACY);
  }

  private Mapping mapping(long legacyId) {
    ResolveOutcome outcome =
        fixture.gateway.resolver.resolveAlias(
            fixture.type, new OlderId.LegacyId(fixture.type, legacyId).alias());
    if (outcome instanceof ResolveOutcome.Found(Mapping mapping)) {
      return mapping;
    }
    throw new AssertionError(outcome);
  }

  private Erasures erasures() {
    return new Erasures(
        fixture.gateway.database, fixture.gateway.resolver, fixture.gateway.aliases);
  }

  private Erasure erase(Mapping mapping) {
    return erasure(
        erasures().erase(mapping.publicId().toString(), false, AllowedTypes.ALL, Actor.operator()));
  }

  private Erasure find(Mapping mapping) {
    return erasure(erasures().find(mapping.publicId().toString(), AllowedTypes.ALL));
  }

  private static Erasure erasure(EraseOutcome outcome) {
    if (outcome instanceof EraseOutcome.Erased(Erasure erasure)) {
      return erasure;
    }
    throw new AssertionError(outcome);
  }

  private TestSql gatewaySql() {
    return fixture.gateway.on.sql();
  }

  /** The tables of a database, but for the customer's, that hold the key or the legacy ID. */
  private static List<String> found(TestSql sql, long key) {
    try (TestSession session = sql.session()) {
      String anywhere =
          session
              .texts(
                  """
                  select format('select %1$L from %2$I.%1$I as row where row::text ~ ''<canaries>''',
                                relname, relnamespace::regnamespace)
                    from pg_class
                   where relkind in ('r', 'm') and relname <> 'orders'
                     and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
                  """)
              .stream()
              .collect(Collectors.joining(" union all "));
      return anywhere.isEmpty()
          ? List.of()
          : session.texts(anywhere.replace("<canaries>", LEGACY + "|" + key));
    }
  }
}
