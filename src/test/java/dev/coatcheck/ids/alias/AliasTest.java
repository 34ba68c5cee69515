package dev.coatcheck.ids.alias;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.registry.Namespace;
import java.util.List;
import org.junit.jupiter.api.Test;

class AliasTest {
  private static final String UUID = "01890a5d-ac96-774b-bcce-b302099a8057";

  /** A cache would give the public ID of another thing. */
  @Test
  void aliasesThatDifferInOnePartAreNotEqual() {
    try (MappingFixture fixture = new MappingFixture()) {
      List<Alias> all =
          List.of(
              Alias.of(fixture.charge, AliasScheme.LEGACY, "7"),
              Alias.of(fixture.user, AliasScheme.LEGACY, "7"),
              Alias.of(fixture.charge, AliasScheme.KEY, "7"),
              Alias.of(fixture.charge, AliasScheme.LEGACY, "8"),
              Alias.client(fixture.charge, Namespace.SHARED, UUID),
              Alias.client(fixture.charge, Namespace.ofPrincipal("app"), UUID));

      for (Alias one : all) {
        assertThat(all.stream().filter(one::equals)).hasSize(1);
        assertThat(all.stream().filter(other -> one.compareTo(other) == 0)).hasSize(1);
      }
      assertThat(Alias.of(fixture.charge, AliasScheme.LEGACY, "7"))
          .isEqualTo(all.getFirst())
          .hasSameHashCodeAs(all.getFirst());
    }
  }
}
