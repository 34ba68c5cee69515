package dev.coatcheck.ids.url;

import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.registry.Type;
import java.util.List;

/** The outcome of publishing an internal URL. */
public sealed interface PublishOutcome {

  /**
   * Public IDs stand instead of the keys.
   *
   * @param ids in the order of the URL
   */
  record Published(String published, List<Mapping> ids) implements PublishOutcome {}

  /**
   * The URL can't be read.
   *
   * @param why ends the sentence "The URL …"; a fixed text
   */
  record InvalidUrl(String why) implements PublishOutcome {}

  record InvalidTemplate() implements PublishOutcome {}

  /** The template names an unknown type. */
  record UnknownType() implements PublishOutcome {}

  /** The template names a type that the caller may not use; whether it exists is not told. */
  record TypeNotAllowed() implements PublishOutcome {}

  /** Where the template has a key of the type, the URL has something else. */
  record MalformedKey(Type type) implements PublishOutcome {}

  /** A key of the URL has no public ID. */
  record UnknownKey() implements PublishOutcome {}
}
