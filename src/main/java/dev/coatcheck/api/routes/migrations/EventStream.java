package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.routes.migrations.TableMigrationView.ProgressView;
import dev.coatcheck.api.routes.migrations.TableMigrationView.WaitView;
import dev.coatcheck.migrate.run.JournalTable;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The server-sent events of a run for one client: its events in order, its progress, and
 * heartbeats. It polls the database and holds no connection between two polls. During an outage it
 * pauses.
 */
final class EventStream {
  private static final int LOOK_MILLIS = 500;
  private static final int LOOKS_A_PROGRESS = 2;
  private static final int LOOKS_A_HEARTBEAT = 10;
  private static final String RETRY = "retry: 1000\n\n";
  private static final String HEARTBEAT = ": \n\n";

  private final TableMigrations migrations;
  private final long run;
  private final BooleanSupplier allowed;
  private final CountDownLatch stop;
  private long after;
  private Optional<RunState> told = Optional.empty();

  /**
   * Starts after an event.
   *
   * @param allowed whether the client still has access
   * @param stop ends the stream within a moment
   */
  EventStream(
      TableMigrations migrations,
      long run,
      long after,
      BooleanSupplier allowed,
      CountDownLatch stop) {
    this.migrations = migrations;
    this.run = run;
    this.after = after;
    this.allowed = allowed;
    this.stop = stop;
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
  void write(OutputStream out) throws IOException, InterruptedException {
    send(out, RETRY);
    out.flush();
    for (long look = 0; ; look++) {
      try {
        if (!allowed.getAsBoolean()) {
          return;
        }
        tell(out, look % LOOKS_A_PROGRESS == 0);
      } catch (DatabaseUnavailable reportedAlready) {
        // Try again at the next poll.
      }
      if (look % LOOKS_A_HEARTBEAT == LOOKS_A_HEARTBEAT - 1) {
        send(out, HEARTBEAT);
      }
      out.flush();
      if (stop.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        return;
      }
    }
  }

  /** The events before the state that they lead to, so no client leaves before the last event. */
  private void tell(OutputStream out, boolean progressDue) throws IOException {
    Optional<TableMigration> now = progressDue ? migrations.journal().find(run) : Optional.empty();
    List<RunEvent> events;
    do {
      events = migrations.journal().events(run, after);
      for (RunEvent event : events) {
        send(
            out,
            "id: %d\nevent: %s\ndata: %s\n\n".formatted(event.number(), event.kind(), json(event)));
        after = event.number();
      }
    } while (events.size() == JournalTable.EVENTS_MAX);
    if (now.isPresent()) {
      RunState state = now.get().status().state();
      if (state == RunState.RUNNING || !told.equals(Optional.of(state))) {
        send(out, "event: progress\ndata: " + json(StatusView.of(now.get())) + "\n\n");
        told = Optional.of(state);
      }
    }
  }

  private static String json(Object view) {
    return new String(Json.write(view), StandardCharsets.UTF_8);
  }

  private static void send(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
  }
}
