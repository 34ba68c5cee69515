package dev.coatcheck.client;

import dev.coatcheck.id.Key;
import dev.coatcheck.id.ParsedPublicId.Reason;
import dev.coatcheck.id.PublicId;
import java.time.Instant;
import java.util.Optional;

/**
 * What the gateway knows about a public ID, a key, a legacy ID or another alias.
 *
 * @param <T> the type that was asked for
 */
public sealed interface Resolution<T> {
  /**
   * There is a public ID, and it is in use.
   *
   * @param mapping the public ID and its key
   * @param <T> the type
   */
  record Found<T>(Mapping<T> mapping) implements Resolution<T> {}

  /**
   * The public ID was merged: it stands for its survivor now.
   *
   * @param mapping the merged public ID, with the survivor's key; with its own if that was looked
   *     up
   * @param into the survivor; empty if a key was looked up
   * @param <T> the type
   */
  record Merged<T>(Mapping<T> mapping, Optional<PublicId<T>> into) implements Resolution<T> {}

  /**
   * The public ID, or the survivor it was merged into, ended for good.
   *
   * @param id the public ID; empty if a legacy ID or another alias was asked for
   * @param endedAt when it ended, by the database's clock; empty if a key was looked up
   * @param reason the reason of the revocation, 1 to 500 characters, if it has one
   * @param isErased whether its key was forgotten too
   * @param <T> the type
   */
  record Revoked<T>(
      Optional<PublicId<T>> id,
      Optional<Instant> endedAt,
      Optional<String> reason,
      boolean isErased)
      implements Resolution<T> {}

  /**
   * The gateway never issued such a public ID, or has none for the key or alias.
   *
   * @param <T> the type
   */
  record Unknown<T>() implements Resolution<T> {}

  /**
   * The text is a public ID, but of another type. The gateway was not asked whether it exists.
   *
   * @param expected the prefix of the type
   * @param actual the prefix of the text
   * @param <T> the type
   */
  record WrongType<T>(String expected, String actual) implements Resolution<T> {}

  /**
   * The text is no public ID, and no older one that the type accepts.
   *
   * @param reason what is wrong with it as a public ID
   * @param position where, as in {@link dev.coatcheck.id.ParsedPublicId.Malformed}
   * @param <T> the type
   */
  record Malformed<T>(Reason reason, int position) implements Resolution<T> {}

  /**
   * The gateway refused this item of a batch for another reason. Single calls throw instead.
   *
   * @param problem why, and whether trying again helps
   * @param <T> the type
   */
  record Refused<T>(Problem problem) implements Resolution<T> {}

  /**
   * The key to go on with: that of the public ID, or of its survivor.
   *
   * @return empty unless {@link Found} or {@link Merged}
   */
  default Optional<Key<T>> key() {
    if (this instanceof Found<T> found) {
      return Optional.of(found.mapping().key());
    }
    return this instanceof Merged<T> merged
        ? Optional.of(merged.mapping().key())
        : Optional.empty();
  }

  /**
   * The public ID to show: that which is in use, or the survivor of a merged one. A merged one
   * whose key was looked up is its own: it leads to the survivor.
   *
   * @return empty unless {@link Found} or {@link Merged}
   */
  default Optional<PublicId<T>> current() {
    if (this instanceof Found<T> found) {
      return Optional.of(found.mapping().id());
    }
    return this instanceof Merged<T> merged
        ? merged.into().or(() -> Optional.of(merged.mapping().id()))
        : Optional.empty();
  }
}
