package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.body.EventStreams;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.migrate.run.JournalTable;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;

/**
 * The events of a run: a list, or server-sent events for a client that accepts them. A stream lasts
 * until its client disconnects or the gateway stops, and holds no permit of ordinary requests.
 */
final class EventRoutes implements AutoCloseable {
  private static final String PATH = TableMigrationRoutes.ONE + "/events";
  private static final int STREAMS_MAX = 32;

  private final TableMigrations migrations;
  private final RunAnswers answers;
  private final EventStreams streams;

  EventRoutes(TableMigrations migrations, RunAnswers answers, Observer observer) {
    this.migrations = migrations;
    this.answers = answers;
    this.streams = new EventStreams("run-events", "event streams", STREAMS_MAX, observer);
  }

  void register(Endpoints endpoints) {
    endpoints.lasting(HandlerType.GET, PATH, Scope.TABLE_MIGRATIONS_READ, this::events);
  }

  private Answer events(Context ctx) {
    long after = EventStreams.after(ctx).orElse(0L);
    return answers.ifKnown(
        ctx,
        run -> EventStreams.areAccepted(ctx) ? stream(ctx, run, after) : list(run.id(), after));
  }

  private Answer list(long run, long after) {
    List<RunEvent> events = migrations.journal().events(run, after);
    return Answer.json(200, ListView.page(events, events.size() == JournalTable.EVENTS_MAX));
  }

  private Answer stream(Context ctx, TableMigration run, long after) {
    int type = run.typeNumber();
    EventStream events =
        new EventStream(migrations, run.id(), after, () -> isStillAllowed(ctx, type));
    return streams.open(ctx, RequestCaller.of(ctx).caller().chain(), events::write);
  }

  private boolean isStillAllowed(Context ctx, int type) {
    return RequestCaller.of(ctx)
        .now()
        .get()
        .filter(caller -> answers.isOf(caller.rights().allowedTypes(), type))
        .isPresent();
  }

  @Override
  public void close() {
    streams.close();
  }
}
