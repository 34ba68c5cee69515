package dev.coatcheck.spring;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.CoatcheckException;
import dev.coatcheck.client.Resolution;
import dev.coatcheck.client.Resolution.Found;
import dev.coatcheck.client.Resolution.Malformed;
import dev.coatcheck.client.Resolution.Merged;
import dev.coatcheck.client.Resolution.Refused;
import dev.coatcheck.client.Resolution.Revoked;
import dev.coatcheck.client.Resolution.Unknown;
import dev.coatcheck.client.Resolution.WrongType;
import dev.coatcheck.id.InvalidPublicIdException;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.ParsedPublicId;
import dev.coatcheck.id.PublicId;
import java.util.List;

/**
 * From public IDs to keys, for controllers: what is unknown or ended becomes an exception that
 * Spring answers with 404 or 410.
 */
public final class PublicIds {
  private final CoatcheckClient client;

  /**
   * Public IDs of one gateway.
   *
   * @param client calls it
   */
  public PublicIds(CoatcheckClient client) {
    this.client = client;
  }

  /**
   * The key of a public ID, or that of its survivor if it was merged.
   *
   * @param id the public ID
   * @param <T> its type
   * @return the key in the application's database
   * @throws PublicIdProblemException if the public ID is unknown (404) or ended (410)
   * @throws CoatcheckException if the gateway refused the call, or did not answer in time
   */
  public <T> Key<T> key(PublicId<T> id) {
    return require(client.resolve(id));
  }

  /**
   * The key of a text from outside: of a public ID, or of an older one that the type accepts.
   *
   * @param type the type that is expected here
   * @param text any text, of any length
   * @param <T> that type
   * @return the key in the application's database
   * @throws InvalidPublicIdException if the text is of another type, or no public ID (400)
   * @throws PublicIdProblemException if the public ID is unknown (404) or ended (410)
   * @throws CoatcheckException if the gateway refused the call, or did not answer in time
   */
  public <T> Key<T> key(Class<T> type, String text) {
    try {
      return key(PublicId.of(type, text));
    } catch (InvalidPublicIdException invalid) {
      if (invalid.result() instanceof ParsedPublicId.WrongType<?>) {
        throw invalid;
      }
      Resolution<T> older = client.resolve(type, text);
      if (older instanceof Malformed<T>) {
        throw invalid;
      }
      return require(older);
    }
  }

  /**
   * The keys of many public IDs, in one call for each 1,000.
   *
   * @param ids the public IDs
   * @param <T> their type
   * @return their keys, in the same order
   * @throws PublicIdProblemException if one of them is unknown (404) or ended (410)
   * @throws CoatcheckException if the gateway refused the call, or did not answer in time
   */
  public <T> List<Key<T>> keys(List<PublicId<T>> ids) {
    return client.resolveAll(ids).stream().map(PublicIds::require).toList();
  }

  /**
   * The key of what the gateway found.
   *
   * @param resolution an answer of the client
   * @param <T> its type
   * @return the key in the application's database
   * @throws PublicIdProblemException if the public ID is unknown (404) or ended (410), or if the
   *     gateway can't answer for this item of a batch now (503)
   * @throws IllegalStateException if the gateway refused this item for good
   */
  public static <T> Key<T> require(Resolution<T> resolution) {
    if (resolution instanceof Found<T> found) {
      return found.mapping().key();
    }
    if (resolution instanceof Merged<T> merged) {
      return merged.mapping().key();
    }
    if (resolution instanceof Revoked<T> revoked) {
      throw Problems.ended(revoked);
    }
    if (resolution instanceof Refused<T> refused) {
      throw refused.problem().isTemporary()
          ? Problems.unavailable(refused.problem())
          : new IllegalStateException("The gateway refused a public ID: " + refused.problem());
    }
    if (resolution instanceof Unknown<T>
        || resolution instanceof WrongType<T>
        || resolution instanceof Malformed<T>) {
      throw Problems.unknown();
    }
    throw new AssertionError(resolution);
  }
}
