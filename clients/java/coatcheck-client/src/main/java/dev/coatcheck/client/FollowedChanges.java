package dev.coatcheck.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What ended and changed at the gateway, as {@code GET /v1/changes} tells it, and how far answers
 * that are kept may be trusted. One daemon thread reads; any thread asks.
 *
 * <h2>Why no ended public ID is served for more than 2 s</h2>
 *
 * <ul>
 *   <li>A head vouches for a moment at the gateway, given as a time after the request arrived. This
 *       client knows when it sent the request, which was before, so trust ends 1.9 s after a moment
 *       that lies before the one at the gateway, however late the head comes.
 *   <li>Where the machine was suspended, the monotonic clock stood still. So trust ends by the wall
 *       clock too, if that comes first, and both are read before the request is sent.
 *   <li>The clocks of two machines drift apart. So no request is listened to for more than {@link
 *       #STREAM_MAX}, in which they drift by less than a tenth of a second.
 *   <li>A gateway may answer with what it knew up to 90 s before, in an outage. So an answer isn't
 *       kept while a change that concerns it is remembered, which is longer, and none is served
 *       that was asked for before all changes of that time were known.
 *   <li>No answer is served after {@link #AGE_MAX}: a change is remembered for longer.
 * </ul>
 */
final class FollowedChanges implements AutoCloseable {
  private static final Duration TRUST = Duration.ofMillis(1_900);

  /** How old an answer of a gateway may be, with some time to spare. */
  private static final Duration STALE_MAX = Duration.ofMinutes(2);

  /** An answer that came later than this after its question isn't kept. */
  private static final Duration ANSWER_MAX = Duration.ofSeconds(30);

  private static final Duration REMEMBERED = STALE_MAX.plus(ANSWER_MAX);
  private static final int REMEMBERED_MAX = 200_000;

  /** How long an answer is served. */
  static final Duration AGE_MAX = Duration.ofSeconds(100);

  /** Heads come twice a second. */
  private static final Duration SILENCE_MAX = Duration.ofSeconds(5);

  /** Then another request measures the time anew. */
  private static final Duration STREAM_MAX = Duration.ofMinutes(10);

  /** Another request may help if the heads of this one vouch for nothing. */
  private static final Duration USELESS_MAX = Duration.ofSeconds(30);

  /** A start names all types of an API key. */
  private static final int LINE_LENGTH_MAX = 1 << 20;

  private static final long PAUSE_MILLIS = 1_000;
  private static final long FROM_THE_BEGIN = -1;
  private static final int GONE = 410;

  private final Transport transport;
  private final Duration staleMax;
  private final Thread reader;

  /** When a public ID ended or a type, by its prefix, changed. */
  private final Map<String, Long> changed = new ConcurrentHashMap<>();

  private volatile Trust trust = new Trust(System.nanoTime() - 1, 0);

  /** Answers to earlier questions may be out of date without a change that says so. */
  private volatile long reliableFromNano;

  private volatile long heardNano = System.nanoTime();
  private volatile @Nullable InputStream stream;
  private volatile boolean isClosed;

  private long after = FROM_THE_BEGIN;
  private @Nullable List<String> types;
  private long purgedNano = System.nanoTime();

  /** When a request was sent, by both clocks. */
  private record Asked(long nano, long millis) {
    static Asked now() {
      return new Asked(System.nanoTime(), System.currentTimeMillis());
    }

    Duration age() {
      return Duration.ofNanos(System.nanoTime() - nano);
    }
  }

  private record Trust(long untilNano, long untilMillis) {
    static Trust of(Asked asked, long asOfMillis) {
      long millis = asOfMillis + TRUST.toMillis();
      return new Trust(
          asked.nano() + TimeUnit.MILLISECONDS.toNanos(millis), asked.millis() + millis);
    }

    boolean isOver() {
      return System.nanoTime() - untilNano > 0 || System.currentTimeMillis() > untilMillis;
    }
  }

  FollowedChanges(Transport transport) {
    this(transport, STALE_MAX);
  }

  FollowedChanges(Transport transport, Duration staleMax) {
    this.transport = transport;
    this.staleMax = staleMax;
    reliableFromNano = System.nanoTime() + staleMax.toNanos();
    reader = new Thread(this::run, "coatcheck-changes");
    reader.setDaemon(true);
  }

  void start() {
    reader.start();
  }

  /** Whether all changes are known that are at least 1.9 s old. */
  boolean isTrusted() {
    if (!trust.isOver()) {
      return true;
    }
    if (System.nanoTime() - heardNano > SILENCE_MAX.toNanos()) {
      leave(); // a network that fell silent; the reader connects again
    }
    return false;
  }

  /**
   * Whether an answer of a trusted time may be served.
   *
   * @param askedNano when its question was sent
   * @param id the public ID that it is about
   * @param prefix of that
   */
  boolean vouchFor(long askedNano, String id, String prefix) {
    return System.nanoTime() - askedNano <= AGE_MAX.toNanos()
        && !isChanged(id, prefix) // first: see forgetAll
        && askedNano - reliableFromNano >= 0;
  }

  /** Whether an answer that just came may be kept. */
  boolean mayKeep(long askedNano, String id, String prefix) {
    return System.nanoTime() - askedNano <= ANSWER_MAX.toNanos() && !isChanged(id, prefix);
  }

  private boolean isChanged(String id, String prefix) {
    return !changed.isEmpty() && (changed.containsKey(id) || changed.containsKey(prefix));
  }

  /** Notes a change that this client made, before the gateway tells of it. */
  void note(String subject) {
    changed.put(subject, System.nanoTime());
    purge(); // also while no stream brings heads
  }

  private void run() {
    while (!isClosed) {
      try {
        follow();
      } catch (CoatcheckException refused) {
        if (refused.status() == GONE) {
          after = FROM_THE_BEGIN;
        }
      } catch (IOException | RuntimeException broken) {
        // The trust ends by itself.
      }
      try {
        TimeUnit.MILLISECONDS.sleep(
            PAUSE_MILLIS / 2 + ThreadLocalRandom.current().nextLong(PAUSE_MILLIS));
      } catch (InterruptedException stopped) {
        return;
      }
    }
  }

  private void follow() throws IOException {
    Asked asked = Asked.now();
    heardNano = asked.nano();
    String path = after == FROM_THE_BEGIN ? "/v1/changes" : "/v1/changes?after=" + after;
    try (InputStream body =
        transport.open(GatewayRequest.of("GET", path).accepting("text/event-stream"))) {
      stream = body;
      if (isClosed) {
        return;
      }
      Reader text = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
      Event event = new Event();
      for (String line = line(text); line != null; line = line(text)) {
        heardNano = System.nanoTime();
        if (!line.isEmpty()) {
          event.add(line);
        } else if (!hear(event, asked)) {
          return;
        } else {
          event = new Event();
        }
      }
    } finally {
      stream = null;
    }
  }

  /** Null at the end. A server that isn't a gateway can't fill the memory. */
  private static @Nullable String line(Reader text) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = text.read(); next >= 0; next = text.read()) {
      if (next == '\n') {
        return line.toString();
      }
      if (line.length() == LINE_LENGTH_MAX) {
        throw new IOException("a line of more than " + LINE_LENGTH_MAX + " characters");
      }
      line.append((char) next);
    }
    return null;
  }

  /** The fields of a server-sent event. */
  private static final class Event {
    private String id = "";
    private String kind = "";
    private String data = "";

    void add(String line) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        String value = line.substring(colon + 1).strip();
        switch (line.substring(0, colon)) {
          case "id" -> id = value;
          case "event" -> kind = value;
          case "data" -> data = value;
          default -> {} // when to come back
        }
      }
    }
  }

  /** Whether to listen on. */
  private boolean hear(Event event, Asked asked) {
    if (event.data.isEmpty()) {
      return true;
    }
    Fields data = new Fields(Json.read(event.data.getBytes(StandardCharsets.UTF_8)));
    switch (event.kind) {
      case "start" -> {
        if (!begin(data)) {
          return false;
        }
      }
      case "head" -> {
        after = Long.parseLong(event.id);
        return trust(asked, data.longNumber("as_of_millis"));
      }
      case "ending" -> note(data.required("id"));
      case "type" -> note(data.required("prefix"));
      default -> {} // an alias: no answer about one is kept
    }
    after = Long.parseLong(event.id);
    return true;
  }

  /** Who sees other types than before misses changes of those, and begins anew. */
  private boolean begin(Fields start) {
    List<String> now = start.object().get("types") == null ? null : start.texts("types");
    if (after == FROM_THE_BEGIN) {
      types = now;
      long knownNanos = TimeUnit.MILLISECONDS.toNanos(start.longNumber("known_millis"));
      reliableFromNano = System.nanoTime() - knownNanos + staleMax.toNanos();
    } else if (!Objects.equals(now, types)) {
      after = FROM_THE_BEGIN;
      forgetAll();
      return false;
    }
    return true;
  }

  /** Whether the time of the request is still a good measure. */
  private boolean trust(Asked asked, long asOfMillis) {
    Trust now = Trust.of(asked, asOfMillis);
    trust = now;
    purge();
    return asked.age().compareTo(now.isOver() ? USELESS_MAX : STREAM_MAX) <= 0;
  }

  private synchronized void purge() {
    long nano = System.nanoTime();
    if (nano - purgedNano > PAUSE_MILLIS * 1_000_000) {
      purgedNano = nano;
      changed.values().removeIf(at -> nano - at > REMEMBERED.toNanos());
      if (changed.size() > REMEMBERED_MAX) {
        forgetAll();
      }
    }
  }

  /** In this order: answers from before are not served any more when the changes are gone. */
  private void forgetAll() {
    reliableFromNano = System.nanoTime() + staleMax.toNanos();
    changed.clear();
  }

  private void leave() {
    InputStream open = stream;
    if (open != null) {
      heardNano = System.nanoTime();
      try {
        open.close();
      } catch (IOException gone) {
        // It is closed.
      }
    }
  }

  @Override
  public void close() {
    isClosed = true;
    leave();
    reader.interrupt();
  }
}
