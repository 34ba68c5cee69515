package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a run consists of. */
class StepsTest {
  private static final Target ORDERS =
      new Target(
          UUID.randomUUID(),
          new TableName("public", "orders"),
          1,
          "id",
          "bigint",
          Optional.empty(),
          new Target.Anchors(new TableName("public", "orders"), 1, 0),
          SearchPath.USUAL,
          List.of());

  @Test
  void noIndexIsBuiltThatOnlyTheSwitchNeeds() {
    List<String> indexes =
        Steps.of(ORDERS).stream()
            .filter(step -> step.phase() == Phase.INDEX)
            .map(Step::name)
            .toList();

    assertThat(indexes).containsExactly("new-perm");
  }
}
