package dev.coatcheck.ids.alias;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.group.Coalescer;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads and writes aliases, each time in a statement of its own. */
final class AliasStore {
  private static final int GROUP_NAMES_MAX = 200;

  private final Database database;
  private final Coalescer<Alias, Optional<Token>> together;

  /** Callers of {@link #target} share up to {@code groupsMax} statements at a time. */
  AliasStore(Database database, int groupsMax) {
    this.database = database;
    this.together = new Coalescer<>("alias", groupsMax, GROUP_NAMES_MAX, this::targetsInOrder);
  }

  /** Callers that ask at the same time share a statement. */
  Optional<Token> target(Alias name) {
    return together.call(name);
  }

  private List<Optional<Token>> targetsInOrder(List<Alias> names) {
    Map<Alias, Token> found = targets(names);
    return names.stream().map(name -> Optional.ofNullable(found.get(name))).toList();
  }

  Map<Alias, Token> targets(List<Alias> names) {
    return database.read("alias", sql -> AliasTable.targets(sql, names));
  }

  /** Writes an alias; false if it is taken. */
  boolean add(Alias alias, Token token) {
    return database.write("alias", sql -> AliasTable.insert(sql, List.of(alias), _ -> token)) == 1;
  }
}
