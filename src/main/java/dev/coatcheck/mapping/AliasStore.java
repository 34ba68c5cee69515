package dev.coatcheck.mapping;

import dev.coatcheck.db.Database;
import dev.coatcheck.id.Token;
import java.util.List;
import java.util.Optional;

/** Reads and writes single names. */
final class AliasStore {
  private final Database database;

  AliasStore(Database database) {
    this.database = database;
  }

  /** Whose name it is. */
  Optional<Token> target(Alias alias) {
    return Optional.ofNullable(
        database.read("alias", sql -> AliasTable.targets(sql, List.of(alias))).get(alias));
  }

  /** Writes a name unless it is taken; says whether it did. */
  boolean add(Alias alias, Token token) {
    return database.write("alias", sql -> AliasTable.insert(sql, List.of(alias), _ -> token)) == 1;
  }
}
