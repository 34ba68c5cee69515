package dev.coatcheck.cluster.grant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three processes on one segment, of which one after the other is killed. */
@Tag("faults")
class SegmentCrashTest {
  private static final int STEP = 500;
  private static final int PROCESSES = 3;
  private static final int DRAWS = 100;
  private static final int KILLS = 20;

  @Test
  void processesThatAreKilledDrawNoNumberTwiceAndLoseTwoStepsEachAtMost() {
    TestDatabase server = TestDatabase.fresh();
    NumberingProcess.Seen seen = new NumberingProcess.Seen();
    List<NumberingProcess> running = new ArrayList<>();
    try (Database database = Database.open(server.settings(2), "crash", new Observer())) {
      Segments segments = new Segments(database, new Observer(), System::nanoTime);
      assertThat(segments.put(new SegmentDefinition("invoice", 1, 1, 64, STEP, STEP)))
          .isInstanceOf(SegmentPut.Created.class);
      for (int i = 0; i < PROCESSES; i++) {
        running.add(NumberingProcess.start(server, "invoice", seen));
      }
      for (int kill = 0; kill < KILLS; kill++) {
        awaitDraws(running.subList(0, 1));
        running.remove(0).close();
        running.add(NumberingProcess.start(server, "invoice", seen));
        seen.requireUnique();
      }
      awaitDraws(running);
      running.forEach(NumberingProcess::close);

      seen.requireUnique();
      long granted = segments.list().getFirst().granted();
      assertThat(granted - seen.count())
          .as("numbers that were granted and not drawn")
          .isBetween(0L, (long) (KILLS + PROCESSES) * 2 * STEP);
    } finally {
      running.forEach(NumberingProcess::close);
    }
  }

  private static void awaitDraws(List<NumberingProcess> processes) {
    await()
        .atMost(Duration.ofMinutes(2))
        .until(() -> processes.stream().allMatch(process -> process.draws() >= DRAWS));
  }
}
