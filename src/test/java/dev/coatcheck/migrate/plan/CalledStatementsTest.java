package dev.coatcheck.migrate.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.plan.CalledStatements.Called;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CalledStatementsTest {
  @Test
  void callsCountFromAMomentOnAndFromZeroWhereTheyWereReset() {
    CalledStatements now =
        new CalledStatements(
            List.of(
                new Called("more", "select 1", 9),
                new Called("same", "select 2", 5),
                new Called("reset", "select 3", 2),
                new Called("new", "select 4", 1)),
            Optional.empty());

    assertThat(now.since(Map.of("more", 5L, "same", 5L, "reset", 7L, "gone", 1L)).calls())
        .containsOnly(Map.entry("more", 4L), Map.entry("reset", 2L), Map.entry("new", 1L));
  }
}
