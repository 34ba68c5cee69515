package dev.coatcheck.core.observe;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.slf4j.event.Level;

/**
 * Logs a line at once, and its repetitions once a second: the latest of them, with their number. In
 * an outage every request reports the same; thousands of lines a second would hide all others and
 * fill the disk.
 */
final class RepeatedLines {
  private final BiConsumer<Level, String> sink;
  private final Executor aSecondLater;
  private final ConcurrentMap<String, Repetitions> open = new ConcurrentHashMap<>();

  /** The repetitions since the last logged line of a kind. Only the logged line is composed. */
  private record Repetitions(long count, Level level, Supplier<String> latest) {
    Repetitions and(Level nextLevel, Supplier<String> next) {
      return new Repetitions(count + 1, nextLevel, next);
    }

    Repetitions logged() {
      return new Repetitions(0, level, latest);
    }
  }

  RepeatedLines(BiConsumer<Level, String> sink) {
    this(sink, CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
  }

  /**
   * @param aSecondLater waits for a second before it runs a task
   */
  RepeatedLines(BiConsumer<Level, String> sink, Executor aSecondLater) {
    this.sink = sink;
    this.aSecondLater = aSecondLater;
  }

  /**
   * Logs the line, or counts it if a line of its kind was logged within the last second.
   *
   * @param kind what distinguishes repetitions from other lines; never a value that a client
   *     chooses, because each kind takes memory for a second
   */
  void write(Level level, String kind, Supplier<String> line) {
    Repetitions now =
        open.compute(
            kind,
            (_, before) ->
                before == null ? new Repetitions(0, level, line) : before.and(level, line));
    if (now.count() == 0) {
      sink.accept(level, line.get());
      aSecondLater.execute(() -> logRepetitions(kind));
    }
  }

  private void logRepetitions(String kind) {
    while (true) {
      Repetitions now = requireNonNull(open.get(kind));
      if (now.count() == 0) {
        if (open.remove(kind, now)) {
          return;
        }
      } else if (open.replace(kind, now, now.logged())) {
        sink.accept(
            now.level(), "%s (%d within a second)".formatted(now.latest().get(), now.count()));
        aSecondLater.execute(() -> logRepetitions(kind));
        return;
      }
    }
  }
}
