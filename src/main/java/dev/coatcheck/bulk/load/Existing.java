package dev.coatcheck.bulk.load;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the keys, tokens and legacy IDs that a chunk names: from the database, and from
 * the chunk's own rows as they are planned.
 */
final class Existing {
  private final Map<TypedKey, StoredMapping> bySubject = new HashMap<>();
  private final Map<SchemedToken, StoredMapping> byToken = new HashMap<>();
  private final Map<Alias, Token> targets = new HashMap<>();

  /** Bigint keys and UUIDs lie in two tables, and each table has its own tokens. */
  private record SchemedToken(KeyScheme scheme, Token token) {}

  void add(StoredMapping held) {
    bySubject.put(held.subject(), held);
    byToken.put(new SchemedToken(schemeOf(held.key()), held.token()), held);
  }

  void add(Alias name, Token target) {
    targets.put(name, target);
  }

  @Nullable StoredMapping of(TypedKey subject) {
    return bySubject.get(subject);
  }

  /** The mapping with a token, in the table of the scheme. */
  @Nullable StoredMapping withToken(KeyScheme scheme, Token token) {
    return byToken.get(new SchemedToken(scheme, token));
  }

  /** The token that has an alias. */
  @Nullable Token target(Alias name) {
    return targets.get(name);
  }

  private static KeyScheme schemeOf(Key key) {
    return switch (key) {
      case Key.Bigint _ -> KeyScheme.SNOWFLAKE;
      case Key.Uuid _ -> KeyScheme.UUIDV7;
    };
  }
}
