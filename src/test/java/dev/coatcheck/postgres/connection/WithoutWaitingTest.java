package dev.coatcheck.postgres.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.postgres.connection.WithoutWaiting.Attempt;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class WithoutWaitingTest {
  @Test
  void workThatNeedsNoWaitIsDone() {
    assertThat(attempt(() -> "done")).isEqualTo(new Attempt.Done<>("done"));
  }

  @Test
  void workThatIsAboutToWaitLeavesBefore() {
    List<String> done = new ArrayList<>();
    Supplier<String> work =
        () -> {
          WithoutWaiting.leave();
          done.add("waited");
          return "done";
        };

    assertThat(attempt(work)).isInstanceOf(Attempt.Left.class);
    assertThat(done).isEmpty();
    assertThat(work.get()).as("on a thread that may wait").isEqualTo("done");
  }

  @Test
  void workComesBackForWhatItAwaits() {
    List<String> begun = new ArrayList<>();
    CompletableFuture<String> answer = new CompletableFuture<>();
    WithoutWaiting<String> work =
        new WithoutWaiting<>(
            () ->
                WithoutWaiting.await(
                    List.of("an equal question, made by each attempt"),
                    () -> {
                      begun.add("question");
                      return answer;
                    }));

    Attempt.Awaits<String> awaits = (Attempt.Awaits<String>) work.attempt();
    assertThat(begun).as("begins when the caller says so").isEmpty();
    assertThat(awaits.start().get()).isSameAs(answer);
    answer.complete("answer");

    assertThat(work.attempt()).isEqualTo(new Attempt.Done<>("answer"));
    assertThat(begun).containsExactly("question");
  }

  @Test
  void twoResultsAreAwaitedOneAfterTheOther() {
    WithoutWaiting<String> work =
        new WithoutWaiting<>(
            () ->
                WithoutWaiting.await("a", () -> CompletableFuture.completedFuture("1"))
                    + WithoutWaiting.await("b", () -> CompletableFuture.completedFuture("2")));

    begin(work.attempt());
    begin(work.attempt());

    assertThat(work.attempt()).isEqualTo(new Attempt.Done<>("12"));
  }

  /** A result that depends on another one hides the exception in one of its own. */
  @Test
  void anExceptionOfTheResultIsThrownAsByAWait() {
    IllegalArgumentException outage = new IllegalArgumentException("outage");
    WithoutWaiting<String> work =
        new WithoutWaiting<>(
            () ->
                WithoutWaiting.await(
                    "question",
                    () ->
                        CompletableFuture.<String>failedFuture(outage)
                            .thenApply(answer -> answer)));
    begin(work.attempt());

    assertThatThrownBy(work::attempt).isSameAs(outage);
  }

  @Test
  void whatWasKnownBeforeTheWaitStaysKnown() {
    List<String> attempts = new ArrayList<>();
    Supplier<Integer> number = () -> WithoutWaiting.once("number", attempts::size);
    WithoutWaiting<Integer> work =
        new WithoutWaiting<>(
            () -> {
              attempts.add("one more");
              return number.get()
                  + WithoutWaiting.await("ten", () -> CompletableFuture.completedFuture(10));
            });
    begin(work.attempt());

    assertThat(work.attempt()).isEqualTo(new Attempt.Done<>(11));
    assertThat(number.get()).as("on a thread that may wait").isEqualTo(2);
  }

  private static Attempt<String> attempt(Supplier<String> work) {
    return new WithoutWaiting<>(work).attempt();
  }

  private static void begin(Attempt<?> attempt) {
    Attempt.Awaits<?> awaits = (Attempt.Awaits<?>) attempt;
    assertThat(awaits.start().get().isDone()).isTrue();
  }
}
