package dev.coatcheck.core.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.attempt.NonBlockingAttempt.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class NonBlockingAttemptTest {
  @Test
  void workThatNeedsNoWaitIsDone() {
    assertThat(attempt(() -> "done")).isEqualTo(new Outcome.Done<>("done"));
  }

  @Test
  void workThatIsAboutToWaitLeavesBefore() {
    List<String> done = new ArrayList<>();
    Supplier<String> work =
        () -> {
          NonBlockingAttempt.leave();
          done.add("waited");
          return "done";
        };

    assertThat(attempt(work)).isInstanceOf(Outcome.Left.class);
    assertThat(done).isEmpty();
    assertThat(work.get()).as("on a thread that may wait").isEqualTo("done");
  }

  @Test
  void workComesBackForWhatItAwaits() {
    List<String> begun = new ArrayList<>();
    CompletableFuture<String> answer = new CompletableFuture<>();
    NonBlockingAttempt<String> work =
        new NonBlockingAttempt<>(
            () ->
                NonBlockingAttempt.await(
                    List.of("an equal question, made by each attempt"),
                    () -> {
                      begun.add("question");
                      return answer;
                    }));

    Outcome.Awaits<String> awaits = (Outcome.Awaits<String>) work.run();
    assertThat(begun).as("begins when the caller says so").isEmpty();
    assertThat(awaits.start().get()).isSameAs(answer);
    answer.complete("answer");

    assertThat(work.run()).isEqualTo(new Outcome.Done<>("answer"));
    assertThat(begun).containsExactly("question");
  }

  @Test
  void twoResultsAreAwaitedOneAfterTheOther() {
    NonBlockingAttempt<String> work =
        new NonBlockingAttempt<>(
            () ->
                NonBlockingAttempt.await("a", () -> CompletableFuture.completedFuture("1"))
                    + NonBlockingAttempt.await("b", () -> CompletableFuture.completedFuture("2")));

    begin(work.run());
    begin(work.run());

    assertThat(work.run()).isEqualTo(new Outcome.Done<>("12"));
  }

  /** A result that depends on another one hides the exception in one of its own. */
  @Test
  void anExceptionOfTheResultIsThrownAsByAWait() {
    IllegalArgumentException outage = new IllegalArgumentException("outage");
    NonBlockingAttempt<String> work =
        new NonBlockingAttempt<>(
            () ->
                NonBlockingAttempt.await(
                    "question",
                    () ->
                        CompletableFuture.<String>failedFuture(outage)
                            .thenApply(answer -> answer)));
    begin(work.run());

    assertThatThrownBy(work::run).isSameAs(outage);
  }

  @Test
  void whatWasKnownBeforeTheWaitStaysKnown() {
    List<String> attempts = new ArrayList<>();
    Supplier<Integer> number = () -> NonBlockingAttempt.once("number", attempts::size);
    NonBlockingAttempt<Integer> work =
        new NonBlockingAttempt<>(
            () -> {
              attempts.add("one more");
              return number.get()
                  + NonBlockingAttempt.await("ten", () -> CompletableFuture.completedFuture(10));
            });
    begin(work.run());

    assertThat(work.run()).isEqualTo(new Outcome.Done<>(11));
    assertThat(number.get()).as("on a thread that may wait").isEqualTo(2);
  }

  private static Outcome<String> attempt(Supplier<String> work) {
    return new NonBlockingAttempt<>(work).run();
  }

  private static void begin(Outcome<?> attempt) {
    Outcome.Awaits<?> awaits = (Outcome.Awaits<?>) attempt;
    assertThat(awaits.start().get().isDone()).isTrue();
  }
}
