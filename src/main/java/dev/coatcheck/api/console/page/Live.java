package dev.coatcheck.api.console.page;

import dev.coatcheck.api.body.EventStreams;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import io.javalin.http.Context;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.eclipse.jetty.util.VirtualThreads;

/**
 * The streams of pages that move: server-sent events, each with the parts of a page that have
 * changed. Once a second, and only while somebody watches, one thread asks for all watched sessions
 * and reads each watched topic once, whatever the number of its watchers. They share what it read,
 * and each has a virtual thread that writes. A stream ends with its session and with the gateway;
 * in an outage of Postgres, which knows the sessions, it says that nothing is known.
 */
public final class Live implements AutoCloseable {
  static final int STREAMS_MAX = 200;
  private static final int ROUND_MILLIS = 1_000;
  private static final long HEARTBEAT_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final String HEARTBEAT = ": \n\n";
  private static final String RELOAD = "event: reload\ndata: \n\n";
  private static final String OUTAGE = "event: outage\ndata: \n\n";
  private static final String NOTHING_NEW = "data: {}\n\n";

  private final ConsoleSessions sessions;
  private final Background background;
  private final EventStreams streams;
  private final Set<Watcher> watchers = ConcurrentHashMap.newKeySet();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final Executor threads = VirtualThreads.getNamedVirtualThreadsExecutor("console-live-");
  private final Map<String, Told> told = new HashMap<>();
  private boolean isTurning;

  public Live(ConsoleSessions sessions, Observer observer) {
    this.sessions = sessions;
    this.background = new Background("console-live", observer);
    this.streams = new EventStreams("console-stream", "pages that move", STREAMS_MAX, observer);
  }

  /**
   * What a page shows of a topic.
   *
   * @param shape a page of another shape is loaded anew, for instance because of its buttons
   * @param parts HTML by the IDs of the elements that hold it
   */
  public record Shown(String shape, Map<String, String> parts) {
    public Shown {
      parts = Map.copyOf(parts);
    }
  }

  /**
   * What pages can watch.
   *
   * @param name the same for all watchers that see the same
   * @param read asked once a second, outside of any request
   */
  public record Topic(String name, Supplier<Shown> read) {}

  /** What was read in two rounds, and the frame that leads from the first to the second. */
  private record Told(Optional<Shown> before, Shown now, String frame) {}

  private sealed interface Notice {
    record Frame(Told told) implements Notice {}

    record Outage() implements Notice {}

    record Reload() implements Notice {}

    record End() implements Notice {}
  }

  /** One stream. No two are equal, because each has its own queue. */
  private record Watcher(
      ConsoleSessions.Token token,
      Predicate<Caller> isAllowed,
      Topic topic,
      String shape,
      BlockingQueue<Notice> notices) {
    /** The newest notice alone counts, so a slow reader holds one. */
    void tell(Notice notice) {
      notices.clear();
      var _ = notices.offer(notice);
    }
  }

  /**
   * Answers with a stream of a topic.
   *
   * @param shape of the page as it was loaded
   * @param isAllowed whether who has the session may still see the topic
   * @throws dev.coatcheck.api.exchange.Refusal if there are too many streams
   */
  public Answer stream(
      Context ctx, Visit visit, Topic topic, String shape, Predicate<Caller> isAllowed) {
    Watcher watcher =
        new Watcher(visit.session().token(), isAllowed, topic, shape, new ArrayBlockingQueue<>(1));
    return streams.open(ctx, visit.caller().chain(), stream -> serve(stream, watcher));
  }

  /** A stream that only makes the browser load the page again. */
  static Answer reload() {
    return Answer.content(EventStreams.MEDIA_TYPE, RELOAD.getBytes(StandardCharsets.US_ASCII));
  }

  private synchronized void add(Watcher watcher) {
    watchers.add(watcher);
    if (stop.getCount() == 0) {
      watcher.tell(new Notice.End());
    } else if (!isTurning) {
      isTurning = true;
      threads.execute(this::turn);
    }
  }

  private synchronized boolean goesOn() {
    isTurning = !watchers.isEmpty() && stop.getCount() > 0;
    if (!isTurning) {
      told.clear();
    }
    return isTurning;
  }

  /** Rounds, until nobody watches. */
  private void turn() {
    try {
      while (goesOn()) {
        boolean _ = background.run(this::round);
        if (stop.await(ROUND_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void round() {
    try {
      Set<Watcher> now = Set.copyOf(watchers);
      Map<ConsoleSessions.Token, Caller> alive =
          sessions.alive(now.stream().map(Watcher::token).collect(Collectors.toSet()));
      Map<Topic, Set<Watcher>> byTopic = new HashMap<>();
      for (Watcher watcher : now) {
        if (Optional.ofNullable(alive.get(watcher.token())).filter(watcher.isAllowed()).isEmpty()) {
          leave(watcher, new Notice.Reload());
        } else {
          byTopic
              .computeIfAbsent(topic(byTopic, watcher), _ -> ConcurrentHashMap.newKeySet())
              .add(watcher);
        }
      }
      told.keySet()
          .retainAll(byTopic.keySet().stream().map(Topic::name).collect(Collectors.toSet()));
      byTopic.forEach(this::tell);
    } catch (DatabaseUnavailable reportedAlready) {
      watchers.forEach(watcher -> watcher.tell(new Notice.Outage()));
    }
  }

  private static Topic topic(Map<Topic, ?> known, Watcher watcher) {
    return known.keySet().stream()
        .filter(topic -> topic.name().equals(watcher.topic().name()))
        .findFirst()
        .orElse(watcher.topic());
  }

  private void tell(Topic topic, Set<Watcher> all) {
    Optional<Shown> before = Optional.ofNullable(told.get(topic.name())).map(Told::now);
    Shown read = topic.read().get();
    Shown now = before.filter(read::equals).orElse(read);
    Told next = new Told(before, now, frame(before.map(Shown::parts).orElse(Map.of()), now));
    told.put(topic.name(), next);
    for (Watcher watcher : all) {
      if (watcher.shape().equals(now.shape())) {
        watcher.tell(new Notice.Frame(next));
      } else {
        leave(watcher, new Notice.Reload());
      }
    }
  }

  /** The notice is the last one of this watcher. */
  private void leave(Watcher watcher, Notice last) {
    watchers.remove(watcher);
    watcher.tell(last);
  }

  private void serve(EventStreams.Stream stream, Watcher watcher)
      throws IOException, InterruptedException {
    add(watcher);
    try {
      write(stream, watcher);
    } finally {
      watchers.remove(watcher);
    }
  }

  private void write(EventStreams.Stream stream, Watcher watcher)
      throws IOException, InterruptedException {
    Optional<Shown> shown = Optional.empty();
    boolean isOutage = false;
    long sentNano = System.nanoTime();
    // The count, because a frame may have taken the place of the notice of the end.
    while (stop.getCount() > 0) {
      long wait = HEARTBEAT_NANOS - (System.nanoTime() - sentNano);
      switch (Optional.ofNullable(watcher.notices().poll(wait, TimeUnit.NANOSECONDS))
          .orElse(null)) {
        case null -> {
          stream.send(HEARTBEAT);
          sentNano = System.nanoTime();
        }
        case Notice.Frame(Told told) -> {
          String frame = frame(told, shown);
          shown = Optional.of(told.now());
          if (!frame.isEmpty() || isOutage) {
            stream.send(frame.isEmpty() ? NOTHING_NEW : frame);
            sentNano = System.nanoTime();
          }
          isOutage = false;
        }
        case Notice.Outage _ -> {
          if (!isOutage) {
            stream.send(OUTAGE);
            sentNano = System.nanoTime();
          }
          isOutage = true;
        }
        case Notice.Reload _ -> {
          stream.send(RELOAD);
          return;
        }
        case Notice.End _ -> {
          return;
        }
      }
    }
  }

  /** The shared frame for a watcher that missed no round; empty if it has seen it already. */
  private static String frame(Told told, Optional<Shown> shown) {
    if (shown.equals(Optional.of(told.now()))) {
      return "";
    }
    return told.before().equals(shown)
        ? told.frame()
        : frame(shown.map(Shown::parts).orElse(Map.of()), told.now());
  }

  private static String frame(Map<String, String> before, Shown now) {
    Map<String, String> changed = new LinkedHashMap<>();
    now.parts()
        .forEach(
            (id, html) -> {
              if (!Objects.equals(before.get(id), html)) {
                changed.put(id, html);
              }
            });
    return changed.isEmpty() ? "" : "data: " + Json.text(changed) + "\n\n";
  }

  /** Ends all streams. Otherwise a graceful stop would wait for them. */
  @Override
  public void close() {
    stop.countDown();
    watchers.forEach(watcher -> watcher.tell(new Notice.End()));
    streams.close();
  }
}
