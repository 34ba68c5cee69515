package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.body.EventStreams;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.routes.migrations.TableMigrationView.ProgressView;
import dev.coatcheck.api.routes.migrations.TableMigrationView.WaitView;
import dev.coatcheck.migrate.run.JournalTable;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The server-sent events of a run for one client: its events in order, its progress, and
 * heartbeats. It polls the database and holds no connection between two polls. During an outage it
 * pauses.
 */
final class EventStream {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final int LOOKS_A_PROGRESS = 2;
  private static final long HEARTBEAT_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final String HEARTBEAT = ": \n\n";

  private final TableMigrations migrations;
  private final long run;
  private final BooleanSupplier allowed;
  private long after;
  private Optional<RunState> told = Optional.empty();

  /**
   * Starts after an event.
   *
   * @param allowed whether the client still has access
   */
  EventStream(TableMigrations migrations, long run, long after, BooleanSupplier allowed) {
    this.migrations = migrations;
    this.run = run;
    this.after = after;
    this.allowed = allowed;
  }

  private record StatusView(
      String state,
      String goal,
      @Nullable String reason,
      @Nullable WaitView waitsFor,
      ProgressView progress) {
    static StatusView of(TableMigration run) {
      return new StatusView(
          run.status().state().wireName(),
          run.status().goal().wireName(),
          run.status().reason().orElse(null),
          WaitView.of(run),
          ProgressView.of(run.progress()));
    }
  }

  /**
   * Writes until it is stopped, or the client loses access.
   *
   * @throws IOException the client is gone
   */
  void write(EventStreams.Stream stream) throws IOException, InterruptedException {
    long beatNano = System.nanoTime();
    for (long look = 0; !stream.isStopped(); look++) {
      try {
        if (!Deadline.ofAnswer().call(allowed::getAsBoolean)) {
          return;
        }
        tell(stream, look % LOOKS_A_PROGRESS == 0);
      } catch (DatabaseUnavailable reportedAlready) {
        // Try again at the next poll.
      }
      // By the clock: in an outage a look takes longer.
      if (System.nanoTime() - beatNano >= HEARTBEAT_NANOS) {
        stream.send(HEARTBEAT);
        beatNano = System.nanoTime();
      }
      stream.await(LOOK_NANOS);
    }
  }

  /** The events before the state that they lead to, so no client leaves before the last event. */
  private void tell(EventStreams.Stream stream, boolean progressDue) throws IOException {
    Optional<TableMigration> now =
        progressDue
            ? Deadline.ofAnswer().call(() -> migrations.journal().find(run))
            : Optional.empty();
    List<RunEvent> events;
    do {
      events = Deadline.ofAnswer().call(() -> migrations.journal().events(run, after));
      StringBuilder text = new StringBuilder();
      for (RunEvent event : events) {
        text.append(EventStreams.event(event.number(), event.kind(), event));
        after = event.number();
      }
      if (!text.isEmpty()) {
        stream.send(text.toString());
      }
    } while (events.size() == JournalTable.EVENTS_MAX);
    if (now.isPresent()) {
      RunState state = now.get().status().state();
      if (state == RunState.RUNNING || !told.equals(Optional.of(state))) {
        stream.send("event: progress\ndata: " + Json.text(StatusView.of(now.get())) + "\n\n");
        told = Optional.of(state);
      }
    }
  }
}
