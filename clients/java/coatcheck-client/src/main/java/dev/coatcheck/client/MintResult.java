package dev.coatcheck.client;

/**
 * What became of one item of a batch of mints.
 *
 * @param <T> the type
 */
public sealed interface MintResult<T> {
  /**
   * There is a public ID, committed.
   *
   * @param mapping the public ID and its key
   * @param isNew false if one of the names had it already; that may be this call's own doing, if it
   *     was sent again after a lost answer
   * @param <T> the type
   */
  record Minted<T>(Mapping<T> mapping, boolean isNew) implements MintResult<T> {}

  /**
   * Nothing was minted for the item, unless {@link Problem#mayBeDone()}: then nobody knows. The
   * same item with a name can be sent again in any case.
   *
   * @param problem why, and whether trying again helps
   * @param <T> the type
   */
  record Refused<T>(Problem problem) implements MintResult<T> {}
}
