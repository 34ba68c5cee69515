package dev.coatcheck.ids.alias;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;

/** Reads and writes aliases, each time in a statement of its own. */
final class AliasStore {
  private final Database database;

  AliasStore(Database database) {
    this.database = database;
  }

  Map<Alias, Token> targets(List<Alias> names) {
    return database.read("alias", sql -> AliasTable.targets(sql, names));
  }

  /** Writes an alias; false if it is taken. */
  boolean add(Alias alias, Token token) {
    return database.write("alias", sql -> AliasTable.insert(sql, List.of(alias), _ -> token)) == 1;
  }
}
