package dev.coatcheck.migrate.relay;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.FunctionTable;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Detects that a table or its columns were renamed, as long as the triggers exist. Until then the
 * triggers find the key by themselves.
 */
public final class NameFollower implements AutoCloseable {
  private final SourceRounds rounds;
  private final BiConsumer<ActiveTable, Target> renamed;
  private final Background background;

  /**
   * @param renamed is told of a table with its new names
   */
  public NameFollower(Sources sources, BiConsumer<ActiveTable, Target> renamed, Observer observer) {
    this.rounds = new SourceRounds(sources, "table-migration-names");
    this.renamed = renamed;
    this.background = new Background("table-migration-names", observer);
  }

  /** Starts to look at all tables, each once. */
  public void follow(ActiveTables active) {
    rounds.begin(
        active.all().stream().filter(ActiveTable::hasTriggers).toList(),
        (source, tables) -> {
          for (ActiveTable table : tables) {
            boolean _ = background.run(() -> follow(table, source));
          }
        });
  }

  private void follow(ActiveTable table, Source source) {
    Optional<Target> now = CatalogTable.now(source.database(), table.target());
    if (now.isPresent()) {
      FunctionTable.keepUp(source.database(), table.target(), now.get());
      if (!now.get().equals(table.target())) {
        renamed.accept(table, now.get());
      }
    }
  }

  /** Breaks off running work. */
  @Override
  public void close() {
    rounds.close();
  }
}
