package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.Column;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowText;
import dev.coatcheck.bulk.rows.Timestamps;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.NewKey;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parses the rows of one import. */
final class RowParser {
  private static final int UNKNOWN_KEPT_MAX = 1_000;

  private final Registry registry;
  private final Caller sender;
  private final AllowedTypes allowed;
  private final Instant now;
  private final Set<String> unknownTypes = new HashSet<>();

  /** Of the chunk that is read: while the change feed is late, each has to be asked for. */
  private final Map<String, Type> types = new HashMap<>();

  /** Rows without a creation time count as created now. */
  RowParser(Registry registry, Caller sender, InstantSource clock) {
    this.registry = registry;
    this.sender = sender;
    this.allowed = sender.rights().allowedTypes();
    this.now = clock.instant();
  }

  sealed interface Parsed {
    record Sound(ImportRow row) implements Parsed {}

    record Refused(RowFault fault) implements Parsed {}
  }

  /**
   * Types may have changed since the chunk before; those of a chunk are renewed when it is full.
   */
  void beginChunk() {
    types.clear();
  }

  Parsed parse(long line, RowText text) {
    String typeName = text.get(Column.TYPE);
    if (typeName == null) {
      return new Parsed.Refused(RowFault.TYPE_MISSING);
    }
    if (!allowed.hold(typeName)) {
      return new Parsed.Refused(RowFault.TYPE_NOT_ALLOWED);
    }
    Type type = type(typeName);
    return type == null ? new Parsed.Refused(RowFault.TYPE_UNKNOWN) : parse(line, type, text);
  }

  private Parsed parse(long line, Type type, RowText text) {
    String keyText = text.get(Column.KEY);
    String legacyText = text.get(Column.LEGACY_ID);
    String createdText = text.get(Column.CREATED_AT);
    String idText = text.get(Column.PUBLIC_ID);
    String clientText = text.get(Column.CLIENT_ID);
    if (keyText == null && type.needsKeys()) {
      return new Parsed.Refused(RowFault.KEY_REQUIRED);
    }
    if (keyText == null && ((legacyText == null && clientText == null) || idText != null)) {
      return new Parsed.Refused(RowFault.KEY_MISSING);
    }
    Key key = keyText == null ? null : type.keyKind().parse(keyText).orElse(null);
    if (keyText != null && key == null) {
      return new Parsed.Refused(RowFault.KEY_MALFORMED);
    }
    if (isSealed(type, Optional.ofNullable(key))) {
      return new Parsed.Refused(RowFault.KEY_SEALED);
    }
    if (legacyText != null && !AliasScheme.LEGACY.accepts(legacyText)) {
      return new Parsed.Refused(RowFault.LEGACY_ID_MALFORMED);
    }
    List<Alias> names = new ArrayList<>(2);
    if (legacyText != null) {
      names.add(Alias.of(type, AliasScheme.LEGACY, legacyText));
    }
    RowFault clientFault = addClientName(type, clientText, text, names);
    if (clientFault != null) {
      return new Parsed.Refused(clientFault);
    }
    Optional<Instant> createdAt =
        createdText == null ? Optional.of(now) : Timestamps.parse(createdText);
    if (createdAt.filter(this::isSensible).isEmpty()) {
      return new Parsed.Refused(RowFault.CREATED_AT_MALFORMED);
    }
    Token token = null;
    if (idText != null && key != null) {
      if (!(PublicId.parse(idText) instanceof ParsedId.Valid(PublicId id))
          || !id.prefix().equals(type.prefix())) {
        return new Parsed.Refused(RowFault.PUBLIC_ID_MALFORMED);
      }
      token = id.token();
      if (token.bucket() != type.salt().bucketOf(key)) {
        return new Parsed.Refused(RowFault.BUCKET_MISMATCH);
      }
      if (isSealed(token, type)) {
        return new Parsed.Refused(RowFault.PUBLIC_ID_CONFLICT);
      }
    }
    return new Parsed.Sound(
        new ImportRow(
            line,
            new MintRequest(type, Optional.ofNullable(key), names, Optional.ofNullable(token)),
            createdAt.get(),
            createdText != null));
  }

  /** Whether a row with the key, or with a generated key, would have a sealed public ID. */
  static boolean isSealed(Type type, Optional<Key> key) {
    return type.sealing()
        .filter(
            sealing ->
                key.isEmpty()
                    || (key.get() instanceof Key.Bigint(long value) && sealing.isOfEra(value)))
        .isPresent();
  }

  /**
   * Whether a seal key gives the token to some key, of any type with the same table. A row would
   * stand in the way of that key.
   */
  private boolean isSealed(Token token, Type type) {
    return registry.all().stream()
        .filter(other -> other.keyKind() == type.keyKind())
        .anyMatch(other -> other.isSealedInAnyEra(token));
  }

  /** Adds the client ID of the row, if it has one. Returns what is wrong with it. */
  private @Nullable RowFault addClientName(
      Type type, @Nullable String clientId, RowText text, List<Alias> into) {
    String name = text.get(Column.CLIENT_NAMESPACE);
    String principal = text.get(Column.CLIENT_PRINCIPAL);
    if (clientId == null) {
      return name == null && principal == null ? null : RowFault.CLIENT_ID_MISSING;
    }
    if (!AliasScheme.CLIENT.accepts(clientId)) {
      return RowFault.CLIENT_ID_MALFORMED;
    }
    if (principal != null && !mayActAs(principal)) {
      return RowFault.CLIENT_PRINCIPAL_REFUSED;
    }
    if (name != null && (principal != null || Namespace.named(name).isEmpty())) {
      return RowFault.CLIENT_NAMESPACE_MALFORMED;
    }
    Optional<Namespace> namespace =
        principal != null
            ? Optional.of(Namespace.ofPrincipal(principal))
            : name != null
                ? Namespace.named(name)
                : Namespace.unnamed(type.clientNames(), sender.principal());
    if (namespace.isEmpty()) {
      return RowFault.CLIENT_NAMESPACE_MISSING;
    }
    into.add(Alias.client(type, namespace.get(), clientId));
    return null;
  }

  /**
   * Otherwise a caller could claim the client IDs of another principal before that principal does.
   */
  private boolean mayActAs(String principal) {
    return principal.equals(sender.principal())
        || (sender.rights().scopes().contains(Scope.ALL) && NewKey.isName(principal));
  }

  private boolean isSensible(Instant createdAt) {
    return !createdAt.isBefore(Instant.EPOCH)
        && !createdAt.isAfter(now.plus(DatedKeyGenerator.AHEAD_MAX));
  }

  /** The registry asks Postgres for each name that it doesn't know, so those are remembered. */
  private @Nullable Type type(String name) {
    Type known = types.get(name);
    if (known != null || unknownTypes.contains(name)) {
      return known;
    }
    known = registry.named(name).orElse(null);
    if (known != null) {
      types.put(name, known);
    } else if (unknownTypes.size() < UNKNOWN_KEPT_MAX) {
      unknownTypes.add(name);
    }
    return known;
  }
}
