package dev.coatcheck.ids.url;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.LegacyPaused;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The outcome of resolving a public URL. The first ID that can't be resolved decides, unless one is
 * in a brownout.
 */
public sealed interface UrlOutcome {

  /**
   * All its IDs were resolved.
   *
   * @param resolved the URL with keys instead of the IDs, and nothing else changed
   * @param publicUrl the URL with public IDs instead of the legacy IDs; empty if it has none
   * @param ids in the order of the URL, each as often as it stands there
   */
  record Resolved(String resolved, Optional<String> publicUrl, List<ResolvedId> ids)
      implements UrlOutcome {}

  /** Why there is no resolved URL. */
  sealed interface Refused extends UrlOutcome {}

  /**
   * Refused as a whole: two programs could read it differently, or it is too long.
   *
   * @param why ends the sentence "The URL …"; a fixed text
   */
  record Invalid(String why) implements Refused {}

  /**
   * Holds a text that has the shape of a public ID but isn't one.
   *
   * @param position where in the URL the text starts
   */
  record Malformed(ParsedId.Reason reason, int position) implements Refused {}

  /** Holds a public ID that was revoked. */
  record Revoked(ResolveOutcome.Revoked id) implements Refused {}

  /** Holds an ID of a public ID that was erased. */
  record Erased() implements Refused {}

  /** Holds a public ID that was never issued. */
  record Unknown() implements Refused {}

  /** Holds an ID of a type that the caller may not use, or what looks like such an ID. */
  record NotAllowed() implements Refused {}

  /** Holds a number where a URL template has a legacy ID, but not in its one spelling. */
  record LegacyMalformed() implements Refused {}

  /** Holds a legacy ID that no public ID of the type has. */
  record LegacyUnknown() implements Refused {}

  /** Holds a legacy ID of a type that is in a brownout. */
  record LegacyBrownout(LegacyPaused paused) implements Refused {}

  /**
   * A public ID or a legacy ID of the URL.
   *
   * @param id as it stands there; of a legacy ID and a public ID of an older system, the public ID
   *     that has it
   * @param legacyId the number, also if a public ID of an older system carries it
   * @param target what it stands for: its own mapping, or its survivor's if it was merged
   */
  record ResolvedId(String id, OptionalLong legacyId, Mapping target, boolean merged) {}
}
