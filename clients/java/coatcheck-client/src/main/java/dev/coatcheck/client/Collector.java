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
 * Interrupting that thread ends its call alone: another one sends the batch again.
 */
public final class Collector {
  private final CoatcheckClient client;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Object, Pending<?>> asked = new HashMap<>();
  private final Map<Class<?>, List<Key<?>>> keys = new LinkedHashMap<>();
  private final List<PublicId<?>> ids = new ArrayList<>();

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
    return add(key, () -> keys.computeIfAbsent(key.type(), t -> new ArrayList<>()).add(key));
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

  /**
   * Sends now what was collected, and waits for the answers. Does nothing if there is nothing.
   *
   * @throws CoatcheckException if the thread was interrupted; what has no answer then is part of
   *     the next batch. All else that goes wrong is told by {@link Pending#get}
   */
  public void send() {
    lock.lock();
    try {
      List.copyOf(keys.values()).forEach(some -> ask(some, client::lookupEach));
      ask(ids, client::resolveEach);
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

  /** Takes questions out of those that were collected, unless this thread is interrupted. */
  private <Q> void ask(List<Q> collected, Function<List<Q>, List<? extends Resolution<?>>> call) {
    if (collected.isEmpty()) {
      return;
    }
    List<Q> questions = List.copyOf(collected);
    try {
      List<? extends Resolution<?>> answers = call.apply(questions);
      for (int i = 0; i < questions.size(); i++) {
        pending(questions.get(i)).complete(answers.get(i));
      }
    } catch (RuntimeException failed) {
      if (Problem.of(failed).code().equals(Problem.INTERRUPTED)) {
        throw failed; // other threads wait for their answers, and the next one sends all
      }
      for (Q question : questions) {
        pending(question).fail(failed);
        asked.remove(question); // the next such question is sent
      }
    }
    collected.subList(0, questions.size()).clear();
  }

  @SuppressWarnings("unchecked")
  private Pending<Object> pending(Object question) {
    return (Pending<Object>) Objects.requireNonNull(asked.get(question));
  }
}
