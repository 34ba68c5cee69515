package dev.coatcheck.client;

import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Collects questions and asks them together, so that a page of 500 rows costs one call instead of
 * 500.
 *
 * <pre>{@code
 * Collector collector = client.collector();              // one for each request of yours
 * List<Pending<Resolution<Charge>>> ids =
 *     charges.stream().map(charge -> collector.lookup(charge.key())).toList();
 * ids.get(0).get();                                      // one call for all of them
 * }</pre>
 *
 * <p>Nothing is sent until an answer is needed. The first {@link Pending#get} sends all that was
 * collected until then, in calls of 1,000 items, one after the other: one series for each type of
 * the keys, one for all public IDs. The same question is asked once. Questions that are added later
 * form the next batch.
 *
 * <p>Make one for each request, pass it on as an argument (or as a bean of the request's scope),
 * and drop it with the request; there is nothing to close. It remembers its answers, so it must not
 * live longer: a public ID may end. Threads may share it; while one sends a batch, the others wait.
 */
public final class Collector {
  private final CoatcheckClient client;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Object, Pending<?>> asked = new HashMap<>();
  private List<Key<?>> keys = new ArrayList<>();
  private List<PublicId<?>> ids = new ArrayList<>();

  Collector(CoatcheckClient client) {
    this.client = client;
  }

  /**
   * Asks for the public ID of a key, later.
   *
   * @param key its type must be a class with {@link dev.coatcheck.id.PublicIdType}
   * @param <T> that class
   * @return the answer to come, as of {@link CoatcheckClient#lookupAll}
   */
  public <T> Pending<Resolution<T>> lookup(Key<T> key) {
    return add(key, () -> keys.add(key));
  }

  /**
   * Asks for the key of a public ID, later.
   *
   * @param id the public ID
   * @param <T> its type
   * @return the answer to come, as of {@link CoatcheckClient#resolveAll}
   */
  public <T> Pending<Resolution<T>> resolve(PublicId<T> id) {
    return add(id, () -> ids.add(id));
  }

  /** Sends now what was collected, and waits for the answers. Does nothing if there is nothing. */
  public void send() {
    lock.lock();
    try {
      List<Key<?>> newKeys = keys;
      keys = new ArrayList<>();
      List<PublicId<?>> newIds = ids;
      ids = new ArrayList<>();
      Map<Class<?>, List<Key<?>>> byType = new LinkedHashMap<>();
      newKeys.forEach(key -> byType.computeIfAbsent(key.type(), t -> new ArrayList<>()).add(key));
      byType.values().forEach(some -> ask(some, client::lookupEach));
      if (!newIds.isEmpty()) {
        ask(newIds, client::resolveEach);
      }
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings("unchecked") // the answer to a question about a T is about a T
  private <T> Pending<Resolution<T>> add(Object question, Runnable add) {
    lock.lock();
    try {
      Pending<?> known = asked.get(question);
      if (known == null) {
        known = new Pending<Resolution<T>>(this);
        asked.put(question, known);
        add.run();
      }
      return (Pending<Resolution<T>>) known;
    } finally {
      lock.unlock();
    }
  }

  private <Q> void ask(List<Q> questions, Function<List<Q>, List<? extends Resolution<?>>> call) {
    try {
      List<? extends Resolution<?>> answers = call.apply(questions);
      for (int i = 0; i < questions.size(); i++) {
        pending(questions.get(i)).complete(answers.get(i));
      }
    } catch (RuntimeException failed) {
      for (Q question : questions) {
        pending(question).fail(failed);
        asked.remove(question); // the next such question is sent
      }
    }
  }

  @SuppressWarnings("unchecked")
  private Pending<Object> pending(Object question) {
    return (Pending<Object>) Objects.requireNonNull(asked.get(question));
  }
}
