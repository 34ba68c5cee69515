package dev.coatcheck.ids.mint;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The stored rows that requests name by an alias, a key or a token. */
public final class KnownRows {
  /** For requests that are all assumed to be new. */
  public static final KnownRows NONE = new KnownRows();

  private final Map<Alias, StoredMapping> byAlias = new HashMap<>();
  private final Map<TypedKey, StoredMapping> byKey = new HashMap<>();
  private final Map<TableToken, StoredMapping> byToken = new HashMap<>();
  private final Set<Alias> erased = new HashSet<>();
  private final Set<Alias> unpinned = new HashSet<>();

  /** Bigint keys and UUIDs lie in two tables, and each table has its own tokens. */
  record TableToken(KeyKind kind, Token token) {}

  void add(KeyKind kind, StoredMapping row) {
    if (!row.isErased()) {
      byKey.put(row.subject(), row);
    }
    byToken.put(new TableToken(kind, row.token()), row);
  }

  /** Adds the row of a pinned key, whose bucket is not that of the key. */
  void addPinned(TypedKey subject, StoredMapping row) {
    byKey.put(subject, row);
    byToken.put(new TableToken(KeyKind.BIGINT, row.token()), row);
  }

  /**
   * Adds an alias of a sealed public ID that has neither a row nor an open era: its key was not
   * pinned.
   */
  void addUnpinned(Alias alias) {
    unpinned.add(alias);
  }

  /** Whether the alias is taken by a public ID that resolves no more. */
  public boolean isUnpinned(Alias alias) {
    return !unpinned.isEmpty() && unpinned.contains(alias);
  }

  /** Adds an alias whose public ID was erased. */
  void addErased(Alias alias) {
    erased.add(alias);
  }

  /** Adds an alias of a row that was added before. */
  void add(Alias alias, KeyKind kind, Token token) {
    StoredMapping row = byToken.get(new TableToken(kind, token));
    if (row == null || row.typeNumber() != alias.typeNumber()) {
      throw new IllegalStateException("alias without its mapping: " + token);
    }
    byAlias.put(alias, row);
  }

  /** The row that has the alias; it may have ended. */
  public @Nullable StoredMapping of(Alias alias) {
    return byAlias.isEmpty() ? null : byAlias.get(alias);
  }

  /** Whether the public ID that had the alias was erased. */
  public boolean isErased(Alias alias) {
    return !erased.isEmpty() && erased.contains(alias);
  }

  /** Whether a public ID of the type with this token was erased. */
  boolean isErased(Type type, Token token) {
    StoredMapping row = byToken.get(new TableToken(type.keyKind(), token));
    return row != null && row.isErased() && row.typeNumber() == type.number();
  }

  @Nullable StoredMapping of(TypedKey key) {
    return byKey.isEmpty() ? null : byKey.get(key);
  }

  boolean holds(TableToken token) {
    return byToken.containsKey(token);
  }
}
