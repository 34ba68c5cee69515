package dev.coatcheck.client;

import dev.coatcheck.client.Resolution.Found;
import dev.coatcheck.id.PublicId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers that are served again for as long as {@link FollowedChanges} vouch for them: public IDs
 * in use, by public ID and by key. What has not been asked for since half of the room was last
 * filled makes way.
 */
final class KeptAnswers implements AutoCloseable {
  private final FollowedChanges changes;
  private final int halfMax;
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private volatile Map<Object, Kept> recent = new ConcurrentHashMap<>();
  private volatile Map<Object, Kept> older = Map.of();

  private record Kept(Found<?> answer, long askedNano) {
    PublicId<?> id() {
      return answer.mapping().id();
    }
  }

  KeptAnswers(FollowedChanges changes, int answersMax) {
    this.changes = changes;
    this.halfMax = Math.max(1, answersMax / 2);
  }

  CacheStatistics statistics() {
    return new CacheStatistics(hits.sum(), misses.sum(), changes.isTrusted());
  }

  /** The kept answer to a question, or the one that {@code ask} gets. */
  @SuppressWarnings("unchecked") // the answer to a question about a T is about a T
  <T> Resolution<T> answer(Object question, Supplier<Resolution<T>> ask) {
    Found<?> kept = changes.isTrusted() ? find(question) : null;
    if (kept != null) {
      hits.increment();
      return (Resolution<T>) kept;
    }
    misses.increment();
    long askedNano = System.nanoTime();
    Resolution<T> answer = ask.get();
    keep(question, answer, askedNano);
    return answer;
  }

  /** The answers to questions, in their order; {@code ask} gets those that are not kept. */
  <Q> List<Resolution<?>> answers(
      List<Q> questions, Function<List<Q>, List<? extends Resolution<?>>> ask) {
    boolean isTrusted = changes.isTrusted();
    List<@Nullable Resolution<?>> answers = new ArrayList<>(questions.size());
    Map<Q, List<Integer>> missing = new LinkedHashMap<>();
    for (int i = 0; i < questions.size(); i++) {
      Found<?> kept = isTrusted ? find(questions.get(i)) : null;
      answers.add(kept);
      if (kept == null) {
        missing.computeIfAbsent(questions.get(i), question -> new ArrayList<>()).add(i);
      }
    }
    hits.add(questions.size() - missing.values().stream().mapToLong(Collection::size).sum());
    misses.add(missing.size());
    List<Map.Entry<Q, List<Integer>>> unknown = List.copyOf(missing.entrySet());
    long askedNano = System.nanoTime();
    List<? extends Resolution<?>> told =
        ask.apply(unknown.stream().map(Map.Entry::getKey).toList());
    for (int i = 0; i < unknown.size(); i++) {
      Resolution<?> answer = told.get(i);
      keep(unknown.get(i).getKey(), answer, askedNano);
      unknown.get(i).getValue().forEach(place -> answers.set(place, answer));
    }
    return List.copyOf(answers);
  }

  /** Drops a public ID that this client ended. */
  void drop(PublicId<?> id) {
    changes.note(id.toString());
  }

  private @Nullable Found<?> find(Object question) {
    Kept kept = recent.get(question);
    if (kept == null) {
      kept = older.get(question);
      if (kept != null) {
        put(question, kept);
      }
    }
    return kept != null && changes.vouchFor(kept.askedNano(), text(kept), prefix(kept))
        ? kept.answer()
        : null;
  }

  private void keep(Object question, Resolution<?> answer, long askedNano) {
    if (answer instanceof Found<?> found) {
      Kept kept = new Kept(found, askedNano);
      if (changes.mayKeep(askedNano, text(kept), prefix(kept))) {
        put(question, kept);
      }
    }
  }

  private static String text(Kept kept) {
    return kept.id().toString();
  }

  private static String prefix(Kept kept) {
    return kept.id().prefix();
  }

  private void put(Object question, Kept kept) {
    Map<Object, Kept> into = recent;
    into.put(question, kept);
    if (into.size() >= halfMax) {
      makeRoom(into);
    }
  }

  @SuppressWarnings("ReferenceEquality") // another thread may have made room
  private synchronized void makeRoom(Map<Object, Kept> full) {
    if (recent == full) {
      older = full;
      recent = new ConcurrentHashMap<>();
    }
  }

  @Override
  public void close() {
    changes.close();
  }
}
