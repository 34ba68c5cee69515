package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** The mapping that one or several requests stand for: a stored row, or a row to be written. */
final class MintTarget {
  private final Type type;
  private final boolean generated;
  private @Nullable TypedKey subject;
  private @Nullable NewMapping draft;
  private @Nullable StoredMapping row;
  private boolean created;
  private boolean lookedUp;

  /** A row to be written; its key is generated unless the request brings one. */
  MintTarget(Type type, @Nullable TypedKey subject) {
    this.type = type;
    this.generated = subject == null;
    this.subject = subject;
  }

  MintTarget(Type type, StoredMapping row) {
    this.type = type;
    this.generated = false;
    this.subject = row.subject();
    this.row = row;
  }

  Type type() {
    return type;
  }

  /** Whether its key is ours, so that another row with this key is none of the caller's. */
  boolean isGenerated() {
    return generated;
  }

  TypedKey subject() {
    return requireNonNull(subject);
  }

  boolean isOf(TypedKey key) {
    return key.equals(subject);
  }

  void generate(Key key) {
    subject = TypedKey.of(type, key);
  }

  /** Draws the token of a row to be written, once the key is known. */
  void drawToken(IntFunction<Token> tokens) {
    draft = new NewMapping(subject(), tokens.apply(subject().bucket()));
  }

  NewMapping draft() {
    return requireNonNull(draft);
  }

  Token token() {
    return row == null ? draft().token() : row.token();
  }

  void inserted(Instant createdAt) {
    row = draft().insertedAt(createdAt);
    created = true;
  }

  /** Another transaction wrote the row first. */
  void found(StoredMapping present) {
    row = present;
  }

  boolean isStored() {
    return row != null;
  }

  StoredMapping row() {
    return requireNonNull(row);
  }

  /** Whether this transaction wrote the row. */
  boolean isCreated() {
    return created;
  }

  void lookUp() {
    lookedUp = true;
  }

  /** Whether its aliases were looked up, so that a row which turns up now came in between. */
  boolean isLookedUp() {
    return lookedUp;
  }
}
