package dev.coatcheck.ids.ending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.ending.Endings.Mode;
import dev.coatcheck.ids.ending.Endings.Request;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Many endings at once, on a pool of two connections. */
class EndingLoadTest {
  private static final int ENDINGS = 200;
  private static final int SURVIVORS = 10;

  private static final MappingFixture FIXTURE = MappingFixture.withConnections(2);
  private static final Resolver RESOLVER = FIXTURE.mappings.resolver();

  @AfterAll
  static void close() {
    FIXTURE.close();
  }

  /** Nobody is told that the database is unavailable: that would be thrown. */
  @Test
  void endingsAtOnceAllEndAndHoldUpNeitherReadersNorMints() throws Exception {
    List<Mapping> ended = minted(ENDINGS);
    List<Mapping> survivors = minted(SURVIVORS);
    List<Mapping> others = minted(100);
    long before = number("select number from coatcheck.change_head");
    CountDownLatch go = new CountDownLatch(1);
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Endings.Result>> ending = new ArrayList<>();
      for (int i = 0; i < ENDINGS; i++) {
        Request request = request(ended, survivors, i);
        ending.add(
            threads.submit(
                () -> {
                  go.await();
                  return FIXTURE.endings.end(List.of(request), Mode.EACH, "test");
                }));
      }
      List<Future<Integer>> beside =
          List.of(
              threads.submit(until(over, others, EndingLoadTest::looksUp)),
              threads.submit(until(over, others, EndingLoadTest::resolves)),
              threads.submit(until(over, others, _ -> mints())));
      go.countDown();
      for (Future<Endings.Result> each : ending) {
        assertThat(each.get())
            .isInstanceOfSatisfying(
                Endings.Result.Settled.class,
                settled ->
                    assertThat(settled.outcomes())
                        .singleElement()
                        .isInstanceOf(EndOutcome.Done.class));
      }
      over.set(true);
      for (Future<Integer> each : beside) {
        assertThat(each.get()).isPositive();
      }
    }

    for (int i = 0; i < ENDINGS; i++) {
      ResolveOutcome now = resolved(ended.get(i));
      if (request(ended, survivors, i) instanceof Request.Revoke) {
        assertThat(now).isInstanceOf(ResolveOutcome.Revoked.class);
      } else {
        Mapping survivor = survivors.get(i % SURVIVORS);
        assertThat(now)
            .isInstanceOfSatisfying(
                ResolveOutcome.Merged.class,
                merged -> assertThat(merged.survivor()).isEqualTo(survivor));
      }
    }
    others.forEach(EndingLoadTest::resolves);
    others.forEach(EndingLoadTest::looksUp);
    assertThat(number("select number from coatcheck.change_head") - before).isEqualTo(ENDINGS);
    assertThat(
            number(
                "select count(distinct xmin::text) from coatcheck.change where number > " + before))
        .as("transactions")
        .isLessThan(ENDINGS / 4);
  }

  /** Half of them are revoked, the others merged. */
  private static Request request(List<Mapping> ended, List<Mapping> survivors, int i) {
    String id = ended.get(i).publicId().toString();
    return i % 2 == 0
        ? new Request.Revoke(id, Optional.empty())
        : new Request.Merge(id, survivors.get(i % SURVIVORS).publicId().toString());
  }

  /** Calls again and again; says how often. */
  private static Callable<Integer> until(
      AtomicBoolean over, List<Mapping> others, Consumer<Mapping> call) {
    return () -> {
      int calls = 0;
      do {
        call.accept(others.get(calls++ % others.size()));
      } while (!over.get());
      return calls;
    };
  }

  private static void resolves(Mapping other) {
    assertThat(resolved(other)).isEqualTo(new ResolveOutcome.Found(other));
  }

  private static void looksUp(Mapping other) {
    assertThat(FIXTURE.mappings.lookup().find(other.type(), other.key())).contains(other);
  }

  private static void mints() {
    assertThat(FIXTURE.minter.mint(MintCall.of(FIXTURE.generated(FIXTURE.charge))))
        .isInstanceOf(MintOutcome.Minted.class);
  }

  /** Asks Postgres, whatever is cached. */
  private static ResolveOutcome resolved(Mapping mapping) {
    RESOLVER.forget(mapping.type(), mapping.publicId().token());
    return RESOLVER.resolve(mapping.publicId().toString());
  }

  private static List<Mapping> minted(int count) {
    MintRequest generated = FIXTURE.generated(FIXTURE.charge);
    return FIXTURE.mint(Collections.nCopies(count, generated).toArray(MintRequest[]::new)).stream()
        .map(MintOutcome.Ticket::mapping)
        .toList();
  }

  private static long number(String query) {
    return FIXTURE.database.read("test", sql -> sql.fetchSingle(query).get(0, Long.class));
  }
}
