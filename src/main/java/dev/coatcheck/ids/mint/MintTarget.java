package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** The mapping that one or more requests ask for: a stored row, or a row to write. */
public final class MintTarget {
  private final Type type;
  private final boolean generated;
  private @Nullable TypedKey subject;
  private @Nullable Token token;
  private @Nullable StoredMapping row;
  private boolean created;
  private boolean lookedUp;

  /** A row to be written; its key is generated unless the request brings one. */
  MintTarget(Type type, @Nullable TypedKey subject, @Nullable Token token) {
    this.type = type;
    this.generated = subject == null;
    this.subject = subject;
    this.token = token;
  }

  MintTarget(Type type, StoredMapping row) {
    this(type, row.subject(), row.token());
    this.row = row;
  }

  Type type() {
    return type;
  }

  /** Whether we generated the key: a row that already has it is not the caller's. */
  boolean isGenerated() {
    return generated;
  }

  public TypedKey subject() {
    return requireNonNull(subject);
  }

  /** The buckets may differ: that of a pinned row is not that of its key. */
  boolean isOf(TypedKey key) {
    return subject != null
        && subject.typeNumber() == key.typeNumber()
        && subject.key().equals(key.key());
  }

  public void generate(Key key) {
    subject = TypedKey.of(type, key);
  }

  /**
   * Draws the token, once the key is known, unless a request brought it. A sealed one is computed,
   * and the row with it, which is never written: whether the key was asked for before is not known,
   * so only a generated one is new.
   *
   * @throws dev.coatcheck.core.seal.SealKeyMissing if this instance lacks the seal key
   */
  void drawToken(IntFunction<Token> tokens) {
    if (token == null) {
      row = StoredMapping.sealed(type, subject().key()).orElse(null);
      created = row != null && generated;
      token = row == null ? stored(tokens) : row.token();
    }
  }

  /** One that no seal key opens: 2^-64 do. */
  private Token stored(IntFunction<Token> tokens) {
    Token drawn = tokens.apply(subject().bucket());
    return type.isSealed(drawn) ? stored(tokens) : drawn;
  }

  /** Whether the mapping is computed from the key. */
  boolean isSealed() {
    return subject != null && type.sealingOf(subject.key()).isPresent();
  }

  Token token() {
    return requireNonNull(token);
  }

  /** The row as it is to be written, once the key is known, with a time of the caller's. */
  public void create(IntFunction<Token> tokens, Instant createdAt) {
    drawToken(tokens);
    inserted(createdAt);
  }

  void inserted(Instant createdAt) {
    row =
        new StoredMapping(
            subject().key(), token(), type.number(), createdAt, Mapping.Status.ACTIVE);
    created = true;
  }

  /** Another transaction wrote the row first. */
  void found(StoredMapping present) {
    row = present;
    token = present.token();
  }

  boolean isStored() {
    return row != null;
  }

  public StoredMapping row() {
    return requireNonNull(row);
  }

  /** Whether this transaction wrote the row. */
  boolean isCreated() {
    return created;
  }

  void lookUp() {
    lookedUp = true;
  }

  /** Whether its aliases were looked up: a row that appears later was written in between. */
  boolean isLookedUp() {
    return lookedUp;
  }
}
