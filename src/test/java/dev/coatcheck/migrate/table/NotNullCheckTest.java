package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A check that fails must not stay: it would refuse the application's updates of old rows. */
class NotNullCheckTest {
  private static final String FILL =
      """
      do $$ begin
        perform set_config('session_replication_role', 'replica', true);
        update orders set snowflake_id = id + 1000000 where snowflake_id is null;
      end $$\
      """;

  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.beside();
  private Target target;

  @BeforeEach
  void table() {
    fixture.clear();
    fixture.execute(
        "create table orders (id bigserial primary key, text text)",
        "insert into orders select from generate_series(1, 10)");
    target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND, Phase.BACKFILL);
  }

  @Test
  void aRowThatCameInWhileTheCheckWasAddedIsFilledFirst() {
    AtomicInteger fills = new AtomicInteger();

    StepOutcome outcome =
        apply(
            () -> {
              fixture.execute(FILL);
              if (fills.incrementAndGet() == 1) {
                straggle();
              }
              return Optional.empty();
            });

    assertThat(outcome).isInstanceOf(StepOutcome.Done.class);
    assertThat(fills).as("twice, and once with the check").hasValue(3);
    assertThat(fixture.count("select count(*) from orders where snowflake_id is null")).isZero();
    assertThat(checks()).isEqualTo(1);
  }

  @Test
  void rowsThatKeepComingAreNamedAndNoCheckStays() {
    straggle();

    StepOutcome outcome = apply(Optional::empty);

    assertThat(outcome).isInstanceOf(StepOutcome.Failed.class);
    assertThat(((StepOutcome.Failed) outcome).reason()).contains("without a key", "the IDs 11");
    requireNoCheck();
    assertThat(apply(NotNullCheckTest.this::fill)).isInstanceOf(StepOutcome.Done.class);
  }

  /** One below all that is looked at under the lock. */
  @Test
  void aRowThatOnlyTheServerSeesIsNamedAndNoCheckStays() {
    StepOutcome outcome =
        apply(
            () -> {
              if (checks() == 1) {
                String check = checkName();
                fixture.execute(
                    "alter table orders disable trigger user",
                    "alter table orders drop constraint " + check,
                    "update orders set snowflake_id = null where id = 5",
                    "alter table orders add constraint "
                        + check
                        + " check (snowflake_id is not null) not valid",
                    "alter table orders enable trigger user");
              }
              return Optional.empty();
            });

    assertThat(outcome).isInstanceOf(StepOutcome.Failed.class);
    assertThat(((StepOutcome.Failed) outcome).reason()).contains("the IDs 5");
    requireNoCheck();
  }

  @Test
  void noCheckStaysWhenARowCannotBeFilledOrTheRunIsStopped() {
    StepOutcome outcome =
        apply(() -> checks() == 1 ? Optional.of("row 7 is locked") : Optional.empty());

    assertThat(outcome).isEqualTo(new StepOutcome.Failed("row 7 is locked"));
    requireNoCheck();
    assertThatThrownBy(
            () ->
                apply(
                    () -> {
                      if (checks() == 1) {
                        throw new IllegalStateException("paused");
                      }
                      return Optional.empty();
                    }))
        .hasMessage("paused");
    requireNoCheck();
  }

  /** A runner that died left it there. */
  @Test
  void aCheckThatWasLeftBehindIsDroppedBeforeAnythingElse() {
    straggle();
    Step.NotNullCheck step = step();
    fixture.execute(step.create().getLast());

    StepOutcome outcome =
        apply(
            () -> {
              if (fixture.count("select count(*) from orders where text = 'updated'") == 0) {
                requireNoCheck();
              }
              return fill();
            });

    assertThat(outcome).isInstanceOf(StepOutcome.Done.class);
  }

  private StepOutcome apply(Supplier<Optional<String>> fill) {
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      return new Ddl(session, target, _ -> {}).apply(step(), fill);
    }
  }

  private Optional<String> fill() {
    fixture.execute(FILL);
    return Optional.empty();
  }

  private Step.NotNullCheck step() {
    return Steps.of(target).stream()
        .filter(Step.NotNullCheck.class::isInstance)
        .map(Step.NotNullCheck.class::cast)
        .findFirst()
        .orElseThrow();
  }

  /** A row that no trigger saw. */
  private void straggle() {
    fixture.execute(
        "alter table orders disable trigger user",
        "insert into orders (text) values ('straggler')",
        "alter table orders enable trigger user");
  }

  private void requireNoCheck() {
    assertThat(checks()).isZero();
    fixture.execute("update orders set text = 'updated'");
  }

  private long checks() {
    return fixture.count(
        "select count(*) from pg_constraint where conrelid = 'orders'::regclass"
            + " and contype = 'c'");
  }

  private String checkName() {
    return '"'
        + fixture
            .texts(
                "select conname from pg_constraint where conrelid = 'orders'::regclass"
                    + " and contype = 'c'")
            .getFirst()
        + '"';
  }
}
