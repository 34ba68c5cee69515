package dev.coatcheck.api.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeyMissing;
import org.junit.jupiter.api.Test;

class FailuresTest {
  /** Public links get this answer too. */
  @Test
  void theAnswerNamesNoSealKey() {
    Problem problem =
        new Failures(new Observer()).problem(new SealKeyMissing("0123456789abcdef"), "req_1");

    assertThat(problem.code()).isEqualTo(ProblemCode.SEAL_KEY_MISSING);
    assertThat(problem.detail()).doesNotContain("0123456789abcdef");
  }
}
