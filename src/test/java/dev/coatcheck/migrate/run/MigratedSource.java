package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.ids.redirect.LegacyFixture;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.table.ArchiveTable;
import dev.coatcheck.migrate.table.Backfill;
import dev.coatcheck.migrate.table.Checkpoint;
import dev.coatcheck.migrate.table.Ddl;
import dev.coatcheck.migrate.table.Outbox;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.StepOutcome;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A source and the mappings of its table, which goes through the steps by hand. */
public abstract class MigratedSource
    implements AutoCloseable, BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  private static final int STATEMENT_MILLIS_MAX = 20_000;
  private static final int TRIES_MAX = 3;

  public final MappingFixture gateway = new MappingFixture();
  public final Type type = gateway.type("order", "ord", KeyKind.BIGINT);
  public final LegacyKeyWriter mappings =
      new LegacyKeyWriter(type, MappingFixture.TOKENS, gateway.observer);
  public final TestDatabase sourceDatabase;
  public final DatabaseSettings settings;
  public final Database source;
  final boolean isBeside;

  /** The source without what may lie between it and the gateway. */
  TestDatabase direct;

  private boolean isOfClass;

  /** How long a state may be waited for. */
  public Duration patience = Duration.ofMinutes(3);

  MigratedSource(Optional<TestDatabase> elsewhere) {
    this.isBeside = elsewhere.isEmpty();
    this.sourceDatabase = elsewhere.orElse(gateway.on);
    this.direct = sourceDatabase;
    this.settings = sourceDatabase.settings(4);
    this.source = Database.openPinned(settings, "source", gateway.observer);
  }

  public DatabaseSettings gatewaySettings() {
    return gateway.on.settings(4);
  }

  /** The table {@code public.orders} as it is now. */
  public Target target(Optional<Target.TimeColumn> createdAt) {
    return target(new TableName("public", "orders"), "id", createdAt);
  }

  public Target target(TableName table, String key, Optional<Target.TimeColumn> createdAt) {
    long oid = count("select " + TableName.literal(table.quoted()) + "::regclass::oid");
    return new Target(
        UUID.randomUUID(),
        table,
        oid,
        key,
        "bigint",
        createdAt,
        CatalogTable.anchors(source, oid, key, createdAt),
        CatalogTable.ownersPath(source, settings, oid),
        List.of());
  }

  public static Optional<Target.TimeColumn> createdAt() {
    return Optional.of(new Target.TimeColumn("created_at", "timestamptz"));
  }

  /** Applies every step of a phase. */
  public void apply(Target target, Phase... phases) {
    for (Phase phase : phases) {
      Steps.of(target).stream()
          .filter(step -> step.phase() == phase)
          .forEach(step -> onSession(target, session -> apply(session, target, step)));
    }
  }

  /** Undoes every step of a phase, the last one first. */
  public void undo(Target target, Phase... phases) {
    for (Phase phase : phases) {
      Steps.of(target).reversed().stream()
          .filter(step -> step.phase() == phase)
          .forEach(step -> onSession(target, session -> undo(session, target, step)));
    }
  }

  /** Applies one step of a phase. */
  public void applyStep(Target target, Phase phase, String name) {
    Step step = step(target, phase, name);
    onSession(target, session -> apply(session, target, step));
  }

  /** Undoes one step of a phase. */
  public void undoStep(Target target, Phase phase, String name) {
    Step step = step(target, phase, name);
    onSession(target, session -> undo(session, target, step));
  }

  private static Step step(Target target, Phase phase, String name) {
    return Steps.of(target).stream()
        .filter(step -> step.phase() == phase && step.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /**
   * Like a run, which tries a step again after an outage: the server ends a session that stands
   * still under a lock for a second, and a busy machine can make it stand still.
   */
  private void onSession(Target target, Consumer<SourceSession> step) {
    for (int tried = 1; ; tried++) {
      try (SourceSession session = UnfencedSession.open(settings, target)) {
        step.accept(session);
        return;
      } catch (DatabaseUnavailable again) {
        if (tried == TRIES_MAX) {
          throw again;
        }
      }
    }
  }

  private void apply(SourceSession session, Target target, Step step) {
    Ddl ddl = ddl(session, target);
    switch (step) {
      case Step.Ddl change -> {
        if (!ddl.isApplied(change)) {
          requireDone(ddl.apply(change));
        }
      }
      case Step.Index index -> ddl.build(index);
      case Step.NotNullCheck filled -> requireDone(ddl.apply(filled, Optional::empty));
      case Step.Spare spare -> ddl.build(spare.index());
      case Step.Validate validate -> requireDone(ddl.apply(validate));
      case Step.Merge merge -> requireDone(ddl.apply(merge));
      case Step.Fill rows -> {
        if (rows.child().isEmpty()) {
          fill(session, target, 512);
        }
      }
      case Step.Archive _, Step.Verify _ -> {}
    }
  }

  private void undo(SourceSession session, Target target, Step step) {
    Ddl ddl = ddl(session, target);
    switch (step) {
      case Step.Ddl change -> requireDone(ddl.undo(change));
      case Step.Index index -> requireDone(ddl.drop(index));
      case Step.Spare spare -> requireDone(ddl.undo(spare));
      case Step.Validate validate -> requireDone(ddl.apply(validate));
      case Step.Merge merge -> requireDone(ddl.apply(merge));
      case Step.NotNullCheck filled -> requireDone(ddl.undo(filled));
      case Step.Archive archive -> {
        requireDone(ddl.begin(archive));
        ArchiveTable rows = new ArchiveTable(session, target);
        await(() -> rows.next(20_000) instanceof Backfill.Outcome.Filled some && some.rows() == 0);
      }
      case Step.Fill _, Step.Verify _ -> {}
    }
  }

  /** The whole backfill, in batches of so many rows. */
  public void fill(SourceSession session, Target target, int rows) {
    Backfill backfill =
        new Backfill(
            session,
            target,
            isBeside ? Optional.of(mappings) : Optional.empty(),
            ids -> mappings.erased(gateway.database, ids));
    for (Checkpoint at = backfill.checkpoint(); !at.isAtEnd(); at = backfill.checkpoint()) {
      Backfill.Range range = new Backfill.Range(at.lastId(), at.highId(), at.lastPosition());
      Backfill.Outcome outcome = backfill.fill(range, rows, 0, STATEMENT_MILLIS_MAX);
      if (!(outcome instanceof Backfill.Outcome.Filled)) {
        throw new AssertionError(outcome);
      }
    }
  }

  public Outbox outbox(Target target) {
    return new Outbox(source, gateway.database, isBeside, target, mappings);
  }

  /** Brings all entries; returns how many there were. */
  public int drain(Target target) {
    Outbox outbox = outbox(target);
    int entries = 0;
    for (Outbox.Drained some = outbox.drain(); some.entries() > 0; some = outbox.drain()) {
      entries += some.entries();
    }
    return entries;
  }

  private static Ddl ddl(SourceSession session, Target target) {
    return new Ddl(
        session,
        target,
        millis -> {
          try {
            Thread.sleep(millis);
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private static void requireDone(StepOutcome outcome) {
    if (!(outcome instanceof StepOutcome.Done)) {
      throw new AssertionError(outcome);
    }
  }

  /** Statements of the application, on the source. */
  public TestSql sql() {
    return direct.sql().inPublic();
  }

  public Connection connect() throws SQLException {
    return sql().connect();
  }

  public void execute(String... statements) {
    sql().execute(statements);
  }

  public long count(String query) {
    return sql().number(query);
  }

  /** The first column, as numbers. */
  public List<Long> column(String query) {
    return sql().numbers(query);
  }

  /** The first column. */
  public List<String> texts(String query) {
    return sql().texts(query);
  }

  /** So many rows, one a second, the last a moment ago. */
  public void orders(int rows) {
    execute(
        "create table orders (id bigserial primary key, created_at timestamptz default now())",
        "insert into orders (created_at) select now() - make_interval(secs => 100 + %1$d - n)"
                .formatted(rows)
            + " from generate_series(1, %d) n".formatted(rows));
  }

  /** And items of them. */
  public void ordersWithItems(int orders, int items) {
    orders(orders);
    execute(
        "create table item (id bigserial primary key,"
            + " order_id bigint not null references orders on delete cascade, n int)",
        "insert into item (order_id) select 1 + n %% %d from generate_series(1, %d) n"
            .formatted(orders, items));
  }

  /** Every row has one key, and those of the backfill are in order. */
  public void requireOrderedKeys() {
    assertThat(column("select id from orders where snowflake_id is null")).isEmpty();
    assertThat(column("select snowflake_id from orders group by snowflake_id having count(*) > 1"))
        .isEmpty();
    assertThat(
            column(
                """
                select id from (
                  select id, snowflake_id <= lag(snowflake_id) over (order by id) as wrong
                    from orders where (snowflake_id >> 12) & 1023 = 1022) as o
                 where wrong
                """))
        .isEmpty();
  }

  /** How many rows have their legacy ID in the mappings. */
  public long aliases() {
    return gateway.on.sql().number("select count(*) from coatcheck.alias");
  }

  /** The key to which each legacy ID leads. */
  public Map<Long, Long> mapped(Type of) {
    return gateway.database.read(
        "test",
        sql -> {
          sql.execute("analyze coatcheck.alias, coatcheck.public_id");
          return sql.fetch(
                  """
                  select a.value::bigint, p.key
                    from coatcheck.alias a
                    join coatcheck.public_id p on p.token = a.token and p.type_id = a.type_id
                   where a.scheme = 'legacy' and a.type_id = ?
                  """,
                  of.number())
              .intoMap(row -> row.get(0, Long.class), row -> row.get(1, Long.class));
        });
  }

  /** The key of each row by its legacy ID. */
  public Map<Long, Long> keys(String table, String key) {
    return texts("select concat_ws(' ', %s, snowflake_id) from %s".formatted(key, table)).stream()
        .map(row -> row.split(" "))
        .collect(Collectors.toMap(row -> Long.valueOf(row[0]), row -> Long.valueOf(row[1])));
  }

  /** Look-ups of legacy IDs, which ask for rows there. */
  public LegacyFixture legacy(UnmappedRows rows) {
    return LegacyFixture.open(gateway, rows, Clock.systemUTC());
  }

  /** Looks a legacy ID up; asks again when there was no time for it, as a client does after 503. */
  public static ResolveOutcome find(LegacyFixture legacy, Type type, long id) {
    return Awaitility.await()
        .ignoreException(DatabaseUnavailable.class)
        .until(() -> legacy.find(new OlderId.LegacyId(type, id)), _ -> true);
  }

  public void await(Callable<Boolean> condition) {
    Awaitility.await().atMost(patience).until(condition);
  }

  /** Until no runner is connected to the source. */
  public void awaitNoRunner() {
    await(
        () ->
            count(
                    "select count(*) from pg_stat_activity"
                        + " where application_name like 'coatcheck run %'"
                        + " and datname = current_database()")
                == 0);
  }

  public static ThrottleSettings rate(ThrottleSettings throttleSettings, int rowsPerSecondMax) {
    return throttleSettings.with(
        Map.of(ThrottleSettings.Limit.ROWS_PER_SECOND_MAX, rowsPerSecondMax), Optional.empty());
  }

  @Override
  public void beforeAll(ExtensionContext testClass) {
    isOfClass = true;
  }

  @Override
  public void afterEach(ExtensionContext test) {
    if (!isOfClass) {
      close();
    }
  }

  @Override
  public void afterAll(ExtensionContext testClass) {
    close();
  }

  @Override
  public void close() {
    source.close();
    gateway.close();
  }
}
