package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Every outcome of every operation that the contract documents was seen in some test. The build
 * runs it after all others; alone it means nothing.
 */
class DocumentedOutcomesTest {
  @Test
  void everyDocumentedOutcomeWasSeen() {
    assertThat(Contract.load().unexercised())
        .as("outcomes in openapi/coatcheck.yaml that no test has seen")
        .isEmpty();
  }
}
