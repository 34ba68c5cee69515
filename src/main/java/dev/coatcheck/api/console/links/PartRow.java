package dev.coatcheck.api.console.links;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.IdOutcome;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.registry.Brownout;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.url.UrlReading;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An ID of a URL as the page shows it.
 *
 * @param kind such as "legacy ID of the type order"
 * @param publicId that it stands for, or an empty text
 * @param key that a proxy puts in its place, or an empty text
 * @param notes what else decides the answer, in sentences
 */
record PartRow(String text, String kind, String publicId, String key, List<String> notes) {
  PartRow {
    notes = List.copyOf(notes);
  }

  static PartRow of(UrlReading.Part part, Instant now) {
    return switch (part) {
      case UrlReading.PublicId(String text, IdOutcome outcome) ->
          of(text, "public ID", outcome, List.of());
      case UrlReading.LegacyId(String text, Type type, IdOutcome outcome) ->
          of(text, "legacy ID of the type " + type.name(), outcome, policy(type, now));
      case UrlReading.MalformedLegacyId(String text) ->
          new PartRow(
              text,
              "number in the position of a legacy ID",
              "",
              "",
              List.of("A legacy ID is a decimal without a sign or leading zeros."));
    };
  }

  private static PartRow of(String text, String kind, IdOutcome outcome, List<String> policy) {
    List<String> notes = new ArrayList<>();
    Optional<Mapping> target =
        switch (outcome) {
          case LegacyPaused _ -> Optional.empty(); // the policy says so
          case IdOutcome.Resolved(ResolveOutcome resolved) -> target(resolved, notes);
        };
    notes.addAll(policy);
    return new PartRow(
        text,
        kind,
        target.map(mapping -> mapping.publicId().toString()).orElse(""),
        target.map(mapping -> mapping.key().text()).orElse(""),
        notes);
  }

  private static Optional<Mapping> target(ResolveOutcome resolved, List<String> notes) {
    return switch (resolved) {
      case ResolveOutcome.Found(Mapping mapping) -> {
        notes.add("Active.");
        yield Optional.of(mapping);
      }
      case ResolveOutcome.Merged(Mapping mapping, Mapping survivor, Instant endedAt) -> {
        notes.add(
            "%s was merged into it at %s.".formatted(mapping.publicId(), Display.time(endedAt)));
        yield Optional.of(survivor);
      }
      case ResolveOutcome.Revoked revoked -> {
        notes.add(
            "%s was revoked at %s."
                .formatted(revoked.mapping().publicId(), Display.time(revoked.endedAt())));
        yield Optional.empty();
      }
      case ResolveOutcome.Erased _ -> {
        notes.add("It was erased.");
        yield Optional.empty();
      }
      case ResolveOutcome.Malformed _ -> {
        notes.add("It is malformed: its check characters don't fit.");
        yield Optional.empty();
      }
      case ResolveOutcome.Unknown _, ResolveOutcome.NotAllowed _ -> {
        notes.add("No public ID has it.");
        yield Optional.empty();
      }
    };
  }

  private static List<String> policy(Type type, Instant now) {
    Optional<LegacyPolicy> legacy = type.legacy();
    if (legacy.isEmpty() || !legacy.get().isPublic()) {
      return List.of("Legacy IDs of this type are not public: no client is redirected from one.");
    }
    LegacyPolicy policy = legacy.get();
    List<String> notes = new ArrayList<>();
    policy.maxId().ifPresent(max -> notes.add("Its highest legacy ID is " + max + "."));
    policy
        .deprecatedAt()
        .ifPresent(
            at ->
                notes.add(
                    (now.isBefore(at) ? "Deprecated from %s." : "Deprecated since %s.")
                        .formatted(Display.time(at))));
    policy
        .sunsetAt()
        .ifPresent(
            at ->
                notes.add(
                    (policy.isOver(now)
                            ? "The sunset has passed, at %s: legacy IDs answer 410."
                            : "The sunset is at %s; from then on legacy IDs answer 410.")
                        .formatted(Display.time(at))));
    policy.brownouts().stream()
        .filter(brownout -> now.isBefore(brownout.to()))
        .map(brownout -> brownout(brownout, now))
        .forEach(notes::add);
    return notes;
  }

  private static String brownout(Brownout brownout, Instant now) {
    return (now.isBefore(brownout.from())
            ? "A brownout is planned from %s to %s: %d."
            : "A brownout is on, from %s to %s: %d.")
        .formatted(Display.time(brownout.from()), Display.time(brownout.to()), brownout.status());
  }
}
