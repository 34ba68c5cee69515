package dev.coatcheck.migrate.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is told of an outbox while it is emptied. */
class OutboxRelayTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();
  private final Observer observer = new Observer();
  private final List<String> refusals = new ArrayList<>();
  private final AtomicLong nano = new AtomicLong(Long.MAX_VALUE - 1);

  @Test
  void theLagIsToldEveryFiveSecondsOfTheClockThatIsGiven() {
    fixture.execute("create table orders (id bigserial primary key)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    ActiveTable table =
        new ActiveTable(1, "gateway", target, fixture.type.number(), true, true, false);
    Source source =
        new Source("gateway", fixture.settings, fixture.source, true, WatchTimeouts.DEFAULT);
    try (Sources sources = new Sources(fixture.settings, Map.of(), observer);
        OutboxRelay relay = relay(sources)) {
      relay.round(source, List.of(table));
      assertThat(entries()).isEqualTo("0.0");
      fixture.execute("insert into orders default values");
      try (TestSession another = fixture.sql().session()) {
        another.begin(new TargetSql(target).fill("select from <outbox_a> for update"));
        nano.addAndGet(TimeUnit.SECONDS.toNanos(5) - 1);
        relay.round(source, List.of(table));
        assertThat(entries()).isEqualTo("0.0");
        nano.incrementAndGet();
        relay.round(source, List.of(table));
        assertThat(entries()).isEqualTo("1.0");
        assertThat(refusals).isEmpty();
      }
    }
  }

  @Test
  void aRowBelowOneIsRefusedForThatReason() {
    fixture.execute("create table orders (id bigserial primary key)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    ActiveTable table =
        new ActiveTable(1, "gateway", target, fixture.type.number(), true, true, false);
    Source source =
        new Source("gateway", fixture.settings, fixture.source, true, WatchTimeouts.DEFAULT);
    fixture.execute("insert into orders values (-3), (0), (1)");
    try (Sources sources = new Sources(fixture.settings, Map.of(), observer);
        OutboxRelay relay = relay(sources)) {
      relay.round(source, List.of(table));
    }
    assertThat(refusals)
        .singleElement()
        .asString()
        .startsWith("2 rows, the first with legacy ID -3: no legacy ID is below 1");
  }

  private OutboxRelay relay(Sources sources) {
    return new OutboxRelay(
        new GatewayMappings(
            fixture.gateway.database, fixture.gateway.registry, MappingFixture.TOKENS, observer),
        sources,
        (table, refused) -> refusals.add(refused),
        nano::get);
  }

  private String entries() {
    return observer
        .scrape()
        .lines()
        .filter(line -> line.startsWith("coatcheck_table_migration_outbox_entries{"))
        .map(line -> line.substring(line.indexOf('}') + 2))
        .findFirst()
        .orElse("");
  }
}
