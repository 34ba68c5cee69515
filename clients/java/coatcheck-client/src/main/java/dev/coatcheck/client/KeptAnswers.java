package dev.coatcheck.client;

import dev.coatcheck.client.Resolution.Found;
import dev.coatcheck.id.PublicId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    Map<Q, Resolution<?>> answers = new HashMap<>();
    Set<Q> kept = new LinkedHashSet<>(questions);
    List<Q> missing = missing(kept, answers);
    hits.add(questions.stream().filter(answers::containsKey).count());
    misses.add(missing.size());
    while (!missing.isEmpty()) {
      ask(missing, ask, answers);
      // That may have taken seconds, in which what was found before can have ended.
      missing.forEach(kept::remove);
      missing = missing(kept, answers);
    }
    return questions.stream().<Resolution<?>>map(answers::get).toList();
  }

  /** Puts the kept answers to some questions; returns the questions that have none. */
  private <Q> List<Q> missing(Set<Q> questions, Map<Q, Resolution<?>> answers) {
    boolean isTrusted = changes.isTrusted();
    List<Q> missing = new ArrayList<>();
    for (Q question : questions) {
      Found<?> kept = isTrusted ? find(question) : null;
      if (kept == null) {
        missing.add(question);
      } else {
        answers.put(question, kept);
      }
    }
    return missing;
  }

  private <Q> void ask(
      List<Q> questions,
      Function<List<Q>, List<? extends Resolution<?>>> ask,
      Map<Q, Resolution<?>> answers) {
    long askedNano = System.nanoTime();
    List<? extends Resolution<?>> told = ask.apply(questions);
    for (int i = 0; i < questions.size(); i++) {
      keep(questions.get(i), told.get(i), askedNano);
      answers.put(questions.get(i), told.get(i));
    }
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
