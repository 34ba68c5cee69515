package dev.coatcheck.migrate.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.steps.Phase;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A look-up gives a row its key before the backfill reaches it, and changes no other row's. */
class FillOnDemandTest {
  private static final int ROWS = 1_000;
  private static final long EPOCH_MILLIS = 1_672_531_200_000L;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  /** Dated yesterday, as a row is that was restored from a backup. */
  @ParameterizedTest
  @ValueSource(ints = {1, 512, 700})
  void aLookUpOfARestoredRowOrBehindItTakesItsTimeFromNobody(int restored) {
    Target target = weekOld();
    fixture.execute(
        "update orders set created_at = now() - interval '1 day' where id = " + restored);
    fixture.apply(target, Phase.EXPAND);
    FillOnDemandTable lookUp = new FillOnDemandTable(fixture.source, target);

    for (long id : new long[] {restored, restored + 1, restored + 200}) {
      assertThat(lookUp.find(id)).isPresent();
    }
    fill(target);

    assertThat(off()).containsExactly((long) restored);
    requireOrder();
  }

  @Test
  void theLastRowKeepsItsTimeWhetherALookUpOrABatchGivesTheKey() {
    Target target = weekOld();
    fixture.apply(target, Phase.EXPAND);

    OptionalLong key = new FillOnDemandTable(fixture.source, target).find(ROWS);
    fill(target);

    assertThat(key).hasValue(fixture.count("select snowflake_id from orders where id = " + ROWS));
    assertThat(off()).isEmpty();
    requireOrder();
  }

  /** A row each minute, the last a week ago. */
  private Target weekOld() {
    fixture.execute(
        "create table orders (id bigserial primary key, created_at timestamptz)",
        "insert into orders (created_at) select date_trunc('second', now()) - interval '7 days'"
            + " - make_interval(mins => %1$d - n) from generate_series(1, %1$d) n".formatted(ROWS));
    return fixture.target(MigrationFixture.createdAt());
  }

  private void fill(Target target) {
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      fixture.fill(session, target, 2 * KeyTimes.BLOCK);
    }
  }

  /** Rows whose keys are over a second off their time. */
  private List<Long> off() {
    return fixture.column(
        "select id from orders where abs((snowflake_id >> 22) + "
            + EPOCH_MILLIS
            + " - extract(epoch from created_at) * 1000) > 1000 order by id");
  }

  private void requireOrder() {
    assertThat(fixture.column("select snowflake_id from orders order by id"))
        .hasSize(ROWS)
        .isSorted()
        .doesNotHaveDuplicates();
  }
}
