package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.server.Admission;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.migrate.run.TableMigrations;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;
import org.eclipse.jetty.util.VirtualThreads;

/**
 * What happened to a run: a list, or server-sent events for whoever accepts them. A stream lasts as
 * long as its listener; it takes no permit of ordinary requests, and ends when the gateway stops.
 */
final class EventRoutes implements AutoCloseable {
  private static final String PATH = TableMigrationRoutes.ONE + "/events";
  private static final String LAST_EVENT_ID = "Last-Event-ID";
  private static final String EVENT_STREAM = "text/event-stream";
  private static final int STREAMS_MAX = 32;
  private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,17}");

  private final TableMigrations migrations;
  private final RunAnswers answers;
  private final Problems problems;
  private final Observer observer;
  private final Admission permits = new Admission(STREAMS_MAX);
  private final CountDownLatch stop = new CountDownLatch(1);
  private final Executor threads = VirtualThreads.getNamedVirtualThreadsExecutor("run-events-");

  EventRoutes(
      TableMigrations migrations, RunAnswers answers, Problems problems, Observer observer) {
    this.migrations = migrations;
    this.answers = answers;
    this.problems = problems;
    this.observer = observer;
  }

  void register(Endpoints endpoints) {
    endpoints.lasting(HandlerType.GET, PATH, Scope.TABLE_MIGRATIONS_READ, this::events);
  }

  /** As every list of ours that may go on. */
  private record ListView(String object, List<EventStream.EventView> data, boolean hasMore) {}

  private void events(Context ctx) {
    Query.allow(ctx, "after");
    long after = after(ctx);
    long run = answers.run(ctx).id();
    if (acceptsStream(ctx)) {
      stream(ctx, run, after);
      return;
    }
    List<EventStream.EventView> events =
        migrations.events(run, after).stream().map(EventStream.EventView::of).toList();
    Answer.json(
        ctx, 200, new ListView("list", events, events.size() == TableMigrations.EVENTS_MAX));
  }

  /** The header is what browsers send when they come back; it wins. */
  private static long after(Context ctx) {
    String header = ctx.header(LAST_EVENT_ID);
    String query = ctx.queryParam("after");
    if (query != null && !NUMBER.matcher(query).matches()) {
      throw Refusal.ofParameter("after", "This must be the number of an event, or 0.");
    }
    if (header != null && !NUMBER.matcher(header).matches()) {
      throw new Refusal(
          Problem.at(
              ProblemCode.HEADER_INVALID,
              LAST_EVENT_ID,
              "Send the id of the last event that you have."));
    }
    return Long.parseLong(
        Optional.ofNullable(header).or(() -> Optional.ofNullable(query)).orElse("0"));
  }

  private static boolean acceptsStream(Context ctx) {
    String accept = Optional.ofNullable(ctx.header("Accept")).orElse("");
    return Arrays.stream(accept.split(",", -1))
        .anyMatch(range -> range.split(";", 2)[0].strip().equalsIgnoreCase(EVENT_STREAM));
  }

  private void stream(Context ctx, long run, long after) {
    if (stop.getCount() == 0 || !permits.enter()) {
      observer.observe(new Event.RequestShed(PATH));
      problems.write(
          ctx,
          Problem.retryAfter(
              ProblemCode.OVERLOADED,
              "An instance has at most " + STREAMS_MAX + " streams of events. Come back later.",
              Problems.jitteredSeconds()));
      return;
    }
    EventStream stream = new EventStream(migrations, run, after, Endpoints.standing(ctx), stop);
    ctx.status(200).contentType(EVENT_STREAM);
    ctx.header("Cache-Control", "no-store");
    ctx.header("X-Accel-Buffering", "no"); // or nginx keeps what it should pass on
    ctx.future(() -> CompletableFuture.runAsync(() -> write(ctx, stream), threads));
  }

  private void write(Context ctx, EventStream stream) {
    try {
      OutputStream out = ctx.res().getOutputStream();
      stream.write(out);
    } catch (IOException gone) {
      // Nobody listens any more.
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      permits.leave();
    }
  }

  @Override
  public void close() {
    stop.countDown();
  }
}
