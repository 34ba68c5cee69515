package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.StatementTimeout;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway whose database writes so slowly that a full drain doesn't end in time. */
class SlowGatewayTest {
  private static final int ENTRIES = 150;

  /** Ten milliseconds for each row; a statement has less than a second for all. */
  private static final String SLOW =
      """
      create function coatcheck.slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.01); return new; end $$;
      create trigger slow before insert on coatcheck.alias
        for each row execute function coatcheck.slow()
      """;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void aDrainThatTakesTooLongIsTriedAgainWithFewerEntries() {
    fixture.execute("create table orders (id bigserial primary key)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    fixture.execute("insert into orders select from generate_series(1, %d)".formatted(ENTRIES));
    fixture.gateway.on.sql().execute(SLOW);
    DatabaseSettings settings = fixture.gatewaySettings().boundedIfPossible();
    try (Database gateway = Database.open(settings, "slow", fixture.gateway.observer)) {
      Outbox outbox = new Outbox(fixture.source, gateway, false, target, fixture.mappings);

      int timeouts = 0;
      while (outbox.lag().entries() > 0 && timeouts < 10) {
        try {
          assertThat(outbox.drain().refused()).isEmpty();
        } catch (StatementTimeout slow) {
          timeouts++;
        }
      }

      assertThat(timeouts).isPositive();
      assertThat(outbox.lag().entries()).isZero();
      assertThat(fixture.gateway.on.sql().number("select count(*) from coatcheck.alias"))
          .isEqualTo(ENTRIES);
    }
  }
}
