package dev.coatcheck.migrate.relay;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The tables that runs have something on, as of a second ago. */
public final class ActiveTables {
  private final Supplier<List<ActiveTable>> reader;
  private volatile List<ActiveTable> tables = List.of();

  /** Reads them at each {@link #refresh}. */
  public ActiveTables(Supplier<List<ActiveTable>> reader) {
    this.reader = reader;
  }

  /**
   * The table of a run.
   *
   * @param source its name
   * @param hasTriggers new rows get keys
   * @param hasOutbox entries may wait
   * @param isContracted only the archive knows legacy IDs
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

  Optional<ActiveTable> ofType(int typeNumber) {
    return tables.stream().filter(table -> table.typeNumber() == typeNumber).findFirst();
  }

  /** Reads them anew; keeps what it knows while the database can't be asked. */
  public void refresh() {
    try {
      tables = reader.get();
    } catch (DatabaseUnavailable reportedAlready) {
      // The next time will do.
    }
  }
}
