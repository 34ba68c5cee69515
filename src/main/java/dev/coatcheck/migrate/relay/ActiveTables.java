package dev.coatcheck.migrate.relay;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The tables that have objects of a run on them, as they were at most a second ago. */
public final class ActiveTables {
  private final Supplier<List<ActiveTable>> reader;
  private volatile List<ActiveTable> tables = List.of();
  private volatile boolean isKnown;

  /**
   * @param reader called at each {@link #refresh}
   */
  public ActiveTables(Supplier<List<ActiveTable>> reader) {
    this.reader = reader;
  }

  /**
   * The table of a run.
   *
   * @param source its name
   * @param hasTriggers new rows get keys
   * @param hasOutbox entries may wait
   * @param isContracted only the archive has legacy IDs
   */
  public record ActiveTable(
      long run,
      String source,
      Target target,
      int typeNumber,
      boolean hasTriggers,
      boolean hasOutbox,
      boolean isContracted) {}

  public boolean isAny() {
    return !tables.isEmpty();
  }

  List<ActiveTable> all() {
    return tables;
  }

  /** Whether a run may have objects on the table of a type; never queries. */
  boolean mayHave(int typeNumber) {
    return !isKnown || tables.stream().anyMatch(table -> table.typeNumber() == typeNumber);
  }

  /**
   * The table of a type whose rows get keys. If the table is not known to have triggers, the tables
   * are read again: it may have triggers meanwhile, and the answer for its rows would be wrong.
   */
  Optional<ActiveTable> withTriggers(int typeNumber) {
    return first(table -> table.typeNumber() == typeNumber && table.hasTriggers());
  }

  /** The table of a type whose outbox may hold entries, by the same rule. */
  Optional<ActiveTable> withOutbox(int typeNumber) {
    return first(table -> table.typeNumber() == typeNumber && table.hasOutbox());
  }

  private Optional<ActiveTable> first(Predicate<ActiveTable> which) {
    return tables.stream()
        .filter(which)
        .findFirst()
        .or(
            () -> {
              read();
              return tables.stream().filter(which).findFirst();
            });
  }

  /** Reads the tables again; keeps the old list while the database is unavailable. */
  public void refresh() {
    try {
      read();
    } catch (DatabaseUnavailable reportedAlready) {
      isKnown = false;
    }
  }

  private void read() {
    tables = reader.get();
    isKnown = true;
  }
}
