package dev.coatcheck.test;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The types and public IDs of a fake gateway. Guarded by the lock of {@link FakeRoutes}. */
final class FakeIds {
  /** Of a Snowflake of these years, so that nobody takes a key for a row's small number. */
  private static final long FIRST_KEY = 500_000_000_000_000_000L;

  private final Map<String, Type> types = new LinkedHashMap<>();
  private final Map<String, Row> byText = new HashMap<>();
  private final Map<Name, Row> byName = new HashMap<>();
  private long lastKey = FIRST_KEY;

  record Type(String name, String prefix, boolean isUuid) {}

  /**
   * What a public ID is found by.
   *
   * @param scheme {@code key}, {@code legacy}, {@code client} or {@code public}
   * @param namespace of a client ID; otherwise empty
   */
  record Name(String type, String scheme, String namespace, String value) {}

  /** One public ID. */
  static final class Row {
    final Type type;
    final String text;
    final String key;
    final Instant createdAt = now();
    @Nullable Instant endedAt;
    @Nullable String reason;
    @Nullable Row mergedInto;

    private Row(Type type, String text, String key) {
      this.type = type;
      this.text = text;
      this.key = key;
    }

    boolean isRevoked() {
      return endedAt != null && mergedInto == null;
    }

    /** The one that it stands for at the end of all merges. */
    Row survivor() {
      Row row = this;
      while (row.mergedInto != null) {
        row = row.mergedInto;
      }
      return row;
    }

    void revoke(@Nullable String because) {
      if (endedAt == null) {
        endedAt = now();
        reason = because;
      }
    }

    void merge(Row into) {
      endedAt = now();
      mergedInto = into;
    }

    private static Instant now() {
      return Instant.now().truncatedTo(ChronoUnit.MICROS);
    }
  }

  void register(Class<?> type, boolean isUuid) {
    String prefix = PublicId.prefixOf(type);
    String declared = type.getAnnotation(PublicIdType.class).name();
    String name = declared.isEmpty() ? prefix : declared;
    types.put(name, new Type(name, prefix, isUuid));
  }

  List<Type> types() {
    return List.copyOf(types.values());
  }

  @Nullable Type type(String name) {
    return types.get(name);
  }

  @Nullable Row byText(String text) {
    return byText.get(text);
  }

  @Nullable Row byName(Name name) {
    return byName.get(name);
  }

  /** A new public ID. */
  Row mint(Type type, @Nullable String key) {
    Token token = Token.of(UUID.randomUUID());
    String text = new dev.coatcheck.core.id.PublicId(new Prefix(type.prefix()), token).toString();
    Row row = new Row(type, text, Objects.requireNonNullElseGet(key, () -> newKey(type)));
    byText.put(text, row);
    byName.put(new Name(type.name(), "key", "", row.key), row);
    return row;
  }

  private String newKey(Type type) {
    return type.isUuid() ? UUID.randomUUID().toString() : Long.toString(++lastKey);
  }

  void addAlias(Row row, Name alias) {
    byName.put(alias, row);
  }

  void removeAlias(Name alias) {
    byName.remove(alias);
  }
}
