package dev.coatcheck.migrate.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.session.Patience;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A runner that was given up for dead writes nothing any more. */
class FenceTest {
  private static final int MILLIS_MAX = 20_000;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();

  @Test
  void anEarlierRunnerWritesNothingAfterALaterOneCame() {
    fixture.execute(
        "create table orders (id bigserial primary key)",
        "insert into orders select from generate_series(1, 1000)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    try (SourceSession early = UnfencedSession.open(fixture.settings, target)) {
      early.fence(1);
      Backfill stale = new Backfill(early, target, Optional.of(fixture.mappings));
      Backfill.Range all = new Backfill.Range(0, 1_000, stale.checkpoint().lastPosition());
      assertThat(stale.fill(all, 128, 1, MILLIS_MAX)).isInstanceOf(Backfill.Outcome.Filled.class);
      try (SourceSession late = UnfencedSession.open(fixture.settings, target)) {
        late.fence(2);
      }
      assertThatThrownBy(stale::checkpoint)
          .as("its connection was ended, with whatever it had under way")
          .isInstanceOf(DatabaseUnavailable.class);

      assertThatThrownBy(stale::checkpoint)
          .as("and it doesn't connect again by itself")
          .isInstanceOf(DatabaseUnavailable.class);
    }
    try (SourceSession woken = UnfencedSession.open(fixture.settings, target)) {
      Backfill stale = new Backfill(woken, target, Optional.of(fixture.mappings));
      Backfill.Range rest = new Backfill.Range(128, 1_000, stale.checkpoint().lastPosition());

      assertThatThrownBy(() -> stale.fill(rest, 256, 1, MILLIS_MAX)).isInstanceOf(FenceLost.class);
      assertThatThrownBy(
              () ->
                  stale.setAside(
                      rest,
                      new Backfill.Outcome.Failed(SetAside.Cause.LOCKED, "held"),
                      1,
                      MILLIS_MAX))
          .isInstanceOf(FenceLost.class);
      assertThat(stale.checkpoint().counts().setAside()).isZero();
      assertThatThrownBy(() -> woken.fence(1)).isInstanceOf(FenceLost.class);
      assertThat(fixture.count("select count(snowflake_id) from orders")).isEqualTo(128);
      assertThat(stale.checkpoint().lastId()).isEqualTo(128);
    }
  }

  /** It slept while another took over, and what that one has under way is none of its business. */
  @Test
  void anEarlierRunnerThatWakesUpEndsNothingOfALaterOne() {
    fixture.execute("create table orders (id bigserial primary key)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    try (SourceSession late =
        SourceSession.open(fixture.settings, Patience.DEFAULT, target, 2, _ -> {})) {
      assertThatThrownBy(
              () -> SourceSession.open(fixture.settings, Patience.DEFAULT, target, 1, _ -> {}))
          .isInstanceOf(FenceLost.class);

      late.fence(2);
    }
  }
}
