package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a sketch says of a stream, beside exact counts. */
class SpaceSavingTest {
  private static final int COUNTERS = 100;
  private static final int LENGTH = 50_000;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);

  enum Stream {
    /** A few texts make up most of it. */
    SKEWED,
    /** No text comes twice. */
    DISTINCT,
    /** All texts come in turn, one more than there are counters. */
    IN_TURN,
    /** The most frequent texts come last, after all counters are taken. */
    LATE,
    /** Each frequent text is driven out by new ones before it comes again. */
    DRIVEN_OUT
  }

  private List<String> stream(Stream kind) {
    List<String> texts = new ArrayList<>(LENGTH);
    for (int i = 0; i < LENGTH; i++) {
      texts.add(
          switch (kind) {
            case SKEWED -> "t" + (int) (1 / (random.nextDouble() + 1.0 / LENGTH));
            case DISTINCT -> "t" + i;
            case IN_TURN -> "t" + i % (COUNTERS + 1);
            case LATE -> "t" + (i < LENGTH / 2 ? i : LENGTH + i % 10);
            case DRIVEN_OUT -> i % (2 * COUNTERS) == 0 ? "frequent" : "t" + i;
          });
    }
    return texts;
  }

  @ParameterizedTest
  @EnumSource
  void countsAreWithinTheirErrors(Stream kind) {
    SpaceSaving sketch = new SpaceSaving(COUNTERS, new SpaceSaving.Budget(COUNTERS));
    List<String> texts = stream(kind);
    texts.forEach(text -> sketch.add(text, 1));

    requireBounds(sketch, texts, 1);
    // What the paper promises of one stream: no count is too low.
    Map<String, Long> exact = exact(texts);
    assertThat(sketch.counts())
        .as("seed %d", seed)
        .allSatisfy(
            count -> assertThat(count.count()).isGreaterThanOrEqualTo(exact.get(count.text())));
  }

  @ParameterizedTest
  @EnumSource
  void sketchesAddUpWithTheirErrors(Stream kind) {
    SpaceSaving.Budget budget = new SpaceSaving.Budget(3 * COUNTERS);
    List<String> all = new ArrayList<>();
    SpaceSaving sum = new SpaceSaving(COUNTERS, budget);
    for (int part = 0; part < 5; part++) {
      SpaceSaving sketch = new SpaceSaving(COUNTERS, budget);
      List<String> texts = stream(kind);
      texts.forEach(text -> sketch.add(text, 1));
      all.addAll(texts);
      sum.addAll(sketch);
      sketch.free();
    }

    requireBounds(sum, all, 2);
    sum.free();
    assertThat(budget.left()).isEqualTo(3 * COUNTERS);
  }

  @Test
  void fewTextsAreCountedExactly() {
    SpaceSaving sketch = new SpaceSaving(COUNTERS, new SpaceSaving.Budget(COUNTERS));
    List<String> texts =
        new ArrayList<>(IntStream.range(0, 5_000).mapToObj(i -> "t" + i % COUNTERS).toList());
    Collections.shuffle(texts, random);
    texts.forEach(text -> sketch.add(text, 3));

    assertThat(sketch.counts())
        .hasSize(COUNTERS)
        .allSatisfy(count -> assertThat(count.count()).isEqualTo(150))
        .allSatisfy(count -> assertThat(count.error()).isZero());
    assertThat(sketch.missed()).isZero();
    assertThat(sketch.total()).isEqualTo(15_000);
  }

  @Test
  void withoutACounterLeftItTellsWhatItMissed() {
    SpaceSaving.Budget budget = new SpaceSaving.Budget(1);
    SpaceSaving first = new SpaceSaving(COUNTERS, budget);
    SpaceSaving second = new SpaceSaving(COUNTERS, budget);
    first.add("a", 1);
    first.add("b", 1);
    second.add("c", 5);

    assertThat(first.counts()).containsExactly(new SpaceSaving.Count("b", 2, 1));
    assertThat(first.missed()).isEqualTo(2);
    assertThat(second.counts()).isEmpty();
    assertThat(second.missed()).isEqualTo(5);
    assertThat(second.total()).isEqualTo(5);
    first.free();
    second.add("c", 1);
    assertThat(second.counts()).containsExactly(new SpaceSaving.Count("c", 1, 0));
    assertThat(second.missed()).as("its count is too low").isEqualTo(5);
  }

  /**
   * Each count is within its error, no text without a counter came more often than is said, and
   * errors are a small part of the stream.
   */
  private void requireBounds(SpaceSaving sketch, List<String> texts, int timesMax) {
    Map<String, Long> exact = exact(texts);
    Map<String, SpaceSaving.Count> counts = new HashMap<>();
    sketch.counts().forEach(count -> counts.put(count.text(), count));
    long bound = (long) timesMax * texts.size() / COUNTERS;

    assertThat(sketch.total()).isEqualTo(texts.size());
    assertThat(counts).hasSizeLessThanOrEqualTo(COUNTERS);
    assertThat(sketch.missed()).isLessThanOrEqualTo(bound);
    exact.forEach(
        (text, times) -> {
          SpaceSaving.Count count = counts.get(text);
          if (count == null) {
            assertThat(times).as("%s, seed %d", text, seed).isLessThanOrEqualTo(sketch.missed());
          } else {
            assertThat(times)
                .as("%s, seed %d", count, seed)
                .isBetween(count.count() - count.error(), count.count() + sketch.missed());
            assertThat(count.error()).isLessThanOrEqualTo(bound);
          }
        });
  }

  private static Map<String, Long> exact(List<String> texts) {
    return texts.stream().collect(Collectors.groupingBy(text -> text, Collectors.counting()));
  }
}
