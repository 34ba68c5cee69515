package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads and writes single names. */
final class AliasStore {
  private final Database database;

  AliasStore(Database database) {
    this.database = database;
  }

  /** Whose name it is. */
  Optional<Token> target(Alias alias) {
    return Optional.ofNullable(targets(List.of(alias)).get(alias));
  }

  /** Whose names they are, of those that belong to somebody. */
  Map<Alias, Token> targets(List<Alias> names) {
    return database.read("alias", sql -> AliasTable.targets(sql, names));
  }

  /** Writes a name unless it is taken; says whether it did. */
  boolean add(Alias alias, Token token) {
    return database.write("alias", sql -> AliasTable.insert(sql, List.of(alias), _ -> token)) == 1;
  }
}
