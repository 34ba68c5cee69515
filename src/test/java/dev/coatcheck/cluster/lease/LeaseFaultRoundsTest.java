package dev.coatcheck.cluster.lease;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code ./mvnw verify -Pfaults}; {@code -Dfaults.seed=…} repeats the choices of a run. */
@Tag("faults")
class LeaseFaultRoundsTest {
  @Test
  void hundredsOfRandomRoundsMakeNoKeyTwice() throws Exception {
    long seed = Long.getLong("faults.seed", System.nanoTime());
    new FaultRounds(seed, Defect.current()).run(Integer.getInteger("faults.rounds", 200));
  }
}
