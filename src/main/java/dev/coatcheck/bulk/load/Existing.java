package dev.coatcheck.bulk.load;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
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
  private final Map<TokenOfKind, StoredMapping> byToken = new HashMap<>();
  private final Map<Alias, Token> targets = new HashMap<>();

  /** Bigint keys and UUIDs lie in two tables, and each table has its own tokens. */
  private record TokenOfKind(KeyKind kind, Token token) {}

  void add(StoredMapping held) {
    bySubject.put(held.subject(), held);
    byToken.put(new TokenOfKind(kindOf(held.key()), held.token()), held);
  }

  void add(Alias name, Token target) {
    targets.put(name, target);
  }

  @Nullable StoredMapping of(TypedKey subject) {
    return bySubject.get(subject);
  }

  /** The mapping with a token, in the table of the kind. */
  @Nullable StoredMapping withToken(KeyKind kind, Token token) {
    return byToken.get(new TokenOfKind(kind, token));
  }

  /** The token that has an alias. */
  @Nullable Token target(Alias name) {
    return targets.get(name);
  }

  private static KeyKind kindOf(Key key) {
    return switch (key) {
      case Key.Bigint _ -> KeyKind.BIGINT;
      case Key.Uuid _ -> KeyKind.UUID;
    };
  }
}
