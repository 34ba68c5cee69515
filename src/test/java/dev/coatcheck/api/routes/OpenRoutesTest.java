package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.server.OpenRoute;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class OpenRoutesTest {
  @Test
  void everyPublicOperationOfTheContractIsARouteWithABound() {
    assertThat(Arrays.stream(OpenRoute.values()).map(OpenRoute::path))
        .containsAll(
            ContractDocument.read().operations().stream()
                .filter(operation -> operation.node().path("security").isArray())
                .filter(operation -> operation.node().path("security").isEmpty())
                .map(ContractDocument.Operation::path)
                .toList());
  }
}
