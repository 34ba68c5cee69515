package dev.coatcheck.api.body;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.core.observe.Observer;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Server-sent events: answers that last until their clients leave, their senders end them, or the
 * gateway stops. Their number is limited, and each has a virtual thread. A client that lets one
 * write wait for {@value #WRITE_SECONDS_MAX} s is disconnected.
 */
public final class EventStreams implements AutoCloseable {
  public static final String MEDIA_TYPE = "text/event-stream";

  private static final String LAST_EVENT_ID = "Last-Event-ID";
  private static final int WRITE_SECONDS_MAX = 15;

  /** Tells clients to connect again a second after the end of a stream. */
  private static final String RETRY = "retry: 1000\n\n";

  private final SharedPermits permits;
  private final Set<Stream> streams = ConcurrentHashMap.newKeySet();
  private final Executor threads;
  private volatile boolean isStopped;

  /**
   * @param name of its threads
   * @param what they are, for people
   * @param most how many there are at a time; half of them for one owner
   */
  public EventStreams(String name, String what, int most, Observer observer) {
    String limits =
        "An instance serves at most " + most + " " + what + ", half of them for one API key.";
    this.permits = new SharedPermits(most, most / 2, limits, observer);
    this.threads = VirtualThreads.getNamedVirtualThreadsExecutor(name + "-");
  }

  /** What a stream sends. It ends when this returns. */
  @FunctionalInterface
  public interface Sender {
    /**
     * Sends until it ends the stream, or {@link Stream#isStopped}.
     *
     * @throws IOException the client has closed the connection, or was too slow
     */
    void send(Stream stream) throws IOException, InterruptedException;
  }

  /** One client. Only its own thread sends. */
  public final class Stream {
    private final OutputStream out;
    private final EndPoint connection;
    private final Scheduler scheduler;
    private final Semaphore wakes = new Semaphore(0);

    private Stream(OutputStream out, EndPoint connection, Scheduler scheduler) {
      this.out = out;
      this.connection = connection;
      this.scheduler = scheduler;
    }

    /** Writes whole events, and waits until the client's connection has taken them. */
    public void send(String events) throws IOException {
      Scheduler.Task limit =
          scheduler.schedule(connection::close, WRITE_SECONDS_MAX, TimeUnit.SECONDS);
      try {
        out.write(events.getBytes(StandardCharsets.UTF_8));
        out.flush();
      } finally {
        limit.cancel();
      }
    }

    /** Waits for a wake-up, at most this long; returns at once if one came since the last wait. */
    public void await(long nanosMax) throws InterruptedException {
      boolean _ = wakes.tryAcquire(nanosMax, TimeUnit.NANOSECONDS);
      wakes.drainPermits();
    }

    public boolean isStopped() {
      return isStopped;
    }
  }

  /**
   * Whether the client asks for a stream. A generated client accepts all that the contract names,
   * and waits for the end.
   */
  public static boolean areAccepted(Context ctx) {
    String accept = Optional.ofNullable(ctx.header("Accept")).orElse("");
    List<String> types =
        Arrays.stream(accept.split(",", -1))
            .map(range -> range.split(";", 2)[0].strip().toLowerCase(Locale.ROOT))
            .toList();
    return types.contains(MEDIA_TYPE) && !types.contains("application/json");
  }

  /**
   * Where the client goes on, by {@code after} or {@code Last-Event-ID}. The header takes
   * precedence: a browser sends it when it reconnects.
   *
   * @throws Refusal for what is no number, and for other parameters
   */
  public static Optional<Long> after(Context ctx) {
    Optional<Long> parameter =
        Query.of(ctx, "after").number("after", "This must be the number of an event, or 0.");
    return Optional.ofNullable(ctx.header(LAST_EVENT_ID))
        .map(
            text ->
                Query.number(text)
                    .orElseThrow(
                        () ->
                            new Refusal(
                                ProblemCode.HEADER_INVALID,
                                LAST_EVENT_ID,
                                "Send the id of the last event that you have.")))
        .or(() -> parameter);
  }

  /** An event after which a client can go on. */
  public static String event(long number, String kind, Object data) {
    return "id: %d\nevent: %s\ndata: %s\n\n".formatted(number, kind, Json.text(data));
  }

  /**
   * Answers with a stream. HEAD gets the headers alone.
   *
   * @param owner the chain of API keys that it counts for
   * @throws Refusal if there are as many streams as there may be, in all or of the owner, or the
   *     gateway stops
   */
  public Answer open(Context ctx, String owner, Sender sender) {
    if (isStopped || !permits.take(owner)) {
      throw permits.shed(ctx);
    }
    ctx.status(200).contentType(MEDIA_TYPE);
    ctx.header("Cache-Control", "no-store");
    ctx.header("X-Accel-Buffering", "no"); // or nginx buffers the stream
    if (ctx.method().equals(HandlerType.HEAD)) {
      permits.giveBack(owner);
      return Answer.STREAMED;
    }
    EndPoint connection = StreamedAnswer.connection(ctx);
    Scheduler scheduler = RequestAccess.request(ctx).getComponents().getScheduler();
    ctx.future(
        () ->
            CompletableFuture.runAsync(
                () -> {
                  try {
                    serve(ctx, connection, scheduler, sender);
                  } finally {
                    permits.giveBack(owner);
                  }
                },
                threads));
    return Answer.STREAMED;
  }

  private void serve(Context ctx, EndPoint connection, Scheduler scheduler, Sender sender) {
    try {
      Stream stream = new Stream(ctx.res().getOutputStream(), connection, scheduler);
      streams.add(stream);
      try {
        stream.send(RETRY);
        sender.send(stream);
      } finally {
        streams.remove(stream);
      }
    } catch (IOException gone) {
      // The client has closed the connection, or was too slow.
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends all waits of senders, whose streams may have something to send. Never waits. */
  public void wake() {
    streams.forEach(stream -> stream.wakes.release());
  }

  /** Ends all streams. Otherwise a graceful stop would wait for them. */
  @Override
  public void close() {
    isStopped = true;
    wake();
  }
}
