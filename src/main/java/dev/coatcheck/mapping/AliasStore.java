package dev.coatcheck.mapping;

import static dev.coatcheck.db.schema.Tables.ALIAS;

import dev.coatcheck.db.Database;
import dev.coatcheck.id.Token;
import java.util.Optional;

/** All SQL about aliases. */
final class AliasStore {
  private final Database database;

  AliasStore(Database database) {
    this.database = database;
  }

  /** Whose name it is. */
  Optional<Token> target(Alias alias) {
    return database.read(
        "alias",
        sql ->
            sql.select(ALIAS.TOKEN)
                .from(ALIAS)
                .where(
                    ALIAS.BUCKET.eq((short) alias.bucket()),
                    ALIAS.TYPE_ID.eq(alias.typeNumber()),
                    ALIAS.SCHEME.eq(alias.scheme().wireName()),
                    ALIAS.VALUE.eq(alias.value()))
                .fetchOptional(row -> Token.of(row.value1())));
  }
}
