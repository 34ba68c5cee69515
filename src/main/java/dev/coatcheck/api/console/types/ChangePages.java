package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.Brownout;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The pages that change types: all of one, its sunset, its brownouts. */
final class ChangePages {
  private static final String BROWNOUTS = "legacy.brownouts";

  private final Gate gate;
  private final TypePages.Verbs verbs;
  private final InstantSource clock;

  ChangePages(Gate gate, TypePages.Verbs verbs, InstantSource clock) {
    this.gate = gate;
    this.verbs = verbs;
    this.clock = clock;
  }

  void register(Endpoints endpoints) {
    String legacy = legacyPathOf("{name}");
    register(endpoints, pathOf("new"), new Whole(true));
    register(endpoints, pathOf("{name}") + "/edit", new Whole(false));
    register(endpoints, legacy + "/sunset", new Sunset());
    register(endpoints, legacy + "/brownouts", new NewBrownout(clock));
    register(endpoints, legacy + "/brownouts/{from}/end", new EndedBrownout(clock));
  }

  private void register(Endpoints endpoints, String path, ChangeKind kind) {
    gate.register(endpoints, path, Scope.TYPES_WRITE, new ChangePage(kind, verbs, clock));
  }

  static String pathOf(String name) {
    return Section.TYPES.path() + "/" + name;
  }

  static String legacyPathOf(String name) {
    return Section.LEGACY.path() + "/" + name;
  }

  /**
   * The texts that a form has for some groups; the present one where a form can't tell them apart.
   */
  private static Map<String, String> sent(
      Subject subject, List<TypeFields.Group> groups, Form form) {
    Map<String, String> texts = subject.texts();
    groups.stream()
        .flatMap(group -> group.fields().stream())
        .forEach(
            field -> {
              String present = texts.getOrDefault(field.name(), "");
              String text = form.sent(field.name());
              boolean isSame = field.sent(present).equals(field.sent(text));
              texts.put(field.name(), isSame ? present : text);
            });
    return texts;
  }

  /** All that may be set about a type. */
  private record Whole(boolean isNew) implements ChangeKind {
    @Override
    public Section section() {
      return Section.TYPES;
    }

    @Override
    public String heading(Subject subject) {
      return isNew ? "New type" : "Edit the type " + subject.name();
    }

    @Override
    public String button(Subject subject) {
      return isNew ? "Create the type" : "Save the changes";
    }

    @Override
    public List<TypeFields.Group> groups(Subject subject) {
      return isNew ? TypeFields.GROUPS : TypeFields.policies();
    }

    @Override
    public Map<String, String> changed(Subject subject, Form form) {
      return sent(subject, groups(subject), form);
    }

    @Override
    public List<String> consequences(Subject subject, Map<String, String> after) {
      return isNew
          ? List.of("The name, the prefix and the keys of a type can't be changed later.")
          : List.of();
    }

    @Override
    public String next(String name) {
      return name.isEmpty() ? Section.TYPES.path() : pathOf(name);
    }
  }

  /** The end of legacy IDs. */
  private record Sunset() implements ChangeKind {
    @Override
    public String heading(Subject subject) {
      return "Set the sunset of " + subject.name();
    }

    @Override
    public String button(Subject subject) {
      return "Set the sunset";
    }

    @Override
    public List<TypeFields.Group> groups(Subject subject) {
      return List.of(
          TypeFields.some(
              "Sunset", "legacy.deprecated_at", "legacy.sunset_at", "legacy.sunset_link"));
    }

    @Override
    public Map<String, String> changed(Subject subject, Form form) {
      requireLegacy(subject);
      return sent(subject, groups(subject), form);
    }

    @Override
    public List<String> consequences(Subject subject, Map<String, String> after) {
      List<String> sentences = new ArrayList<>();
      String sunset = after.getOrDefault("legacy.sunset_at", "");
      if (sunset.isEmpty()) {
        sentences.add("Legacy IDs have no sunset: they are redirected until you set one.");
      } else {
        sentences.add(
            "From %s on, each request with a legacy ID of %s is answered 410. Public IDs and their links stay as they are."
                .formatted(sunset, subject.name()));
        sentences.add("Until then, redirects of legacy IDs carry the header Sunset.");
      }
      String deprecated = after.getOrDefault("legacy.deprecated_at", "");
      if (!deprecated.isEmpty()) {
        sentences.add("They carry the header Deprecation, with " + deprecated + ".");
      }
      String link = after.getOrDefault("legacy.sunset_link", "");
      if (!link.isEmpty()) {
        sentences.add("The header Link names " + link + " as the page about the sunset.");
      }
      return sentences;
    }
  }

  private static LegacyPolicy requireLegacy(Subject subject) {
    return subject
        .type()
        .flatMap(Type::legacy)
        .orElseThrow(
            () ->
                new Refusal(
                    ProblemCode.FIELD_INVALID,
                    "legacy",
                    "This type has no legacy IDs. Switch them on first: edit the type."));
  }

  /** A further window in which legacy IDs are refused. */
  private record NewBrownout(InstantSource clock) implements ChangeKind {
    private static final TypeField FROM =
        TypeField.parse("from | Begins | text | In UTC, such as 2026-12-01T10:00:00Z.");
    private static final TypeField TO =
        TypeField.parse("to | Ends | text | Within 7 days, and not after the sunset.");
    private static final TypeField ANSWER =
        TypeField.parse(
            "answer | Answer | choice 503,410 | 503 with Retry-After; 410 makes search engines drop"
                + " the links.");

    @Override
    public String heading(Subject subject) {
      return "Add a brownout of " + subject.name();
    }

    @Override
    public String button(Subject subject) {
      return "Add the brownout";
    }

    @Override
    public List<TypeFields.Group> groups(Subject subject) {
      return List.of(new TypeFields.Group("Brownout", "", List.of(FROM, TO, ANSWER)));
    }

    @Override
    public Map<String, String> proposed(Subject subject) {
      Instant hour = clock.instant().truncatedTo(ChronoUnit.HOURS).plus(Duration.ofHours(1));
      return Map.of("from", hour.toString(), "to", hour.plus(Duration.ofHours(1)).toString());
    }

    @Override
    public Map<String, String> changed(Subject subject, Form form) {
      requireLegacy(subject);
      String line =
          form.sent("from")
              + "/"
              + form.sent("to")
              + form.text("answer").filter("410"::equals).map(answer -> "," + answer).orElse("");
      String before = subject.texts().getOrDefault(BROWNOUTS, "");
      return subject.textsWith(Map.of(BROWNOUTS, before.isEmpty() ? line : before + "\n" + line));
    }

    @Override
    public List<String> consequences(Subject subject, Map<String, String> after) {
      List<String> before = subject.texts().getOrDefault(BROWNOUTS, "").lines().toList();
      String added =
          after
              .getOrDefault(BROWNOUTS, "")
              .lines()
              .filter(line -> !before.contains(line))
              .findFirst()
              .orElse("");
      String times = added.replaceFirst(",.*$", "").replace("/", " to ");
      List<String> sentences = new ArrayList<>();
      sentences.add(
          "From "
              + times
              + ", each request with a legacy ID of "
              + subject.name()
              + (added.endsWith(",410")
                  ? " is answered 410. Search engines may drop the links for good."
                  : " is answered 503 with Retry-After."));
      sentences.add("Afterwards legacy IDs are redirected again. Public IDs are not concerned.");
      String exempt = after.getOrDefault("legacy.brownouts_exempt", "");
      sentences.add(
          exempt.isEmpty()
              ? "No API key is exempt."
              : "These API keys notice nothing: " + exempt.replace("\n", ", ") + ".");
      return sentences;
    }
  }

  /** The end of a brownout: now, or before it began. */
  private record EndedBrownout(InstantSource clock) implements ChangeKind {
    private static Brownout window(Subject subject) {
      return subject.brownout().orElseThrow();
    }

    @Override
    public String heading(Subject subject) {
      return "End a brownout of " + subject.name();
    }

    @Override
    public String button(Subject subject) {
      return window(subject).isOn(clock.instant()) ? "End the brownout" : "Cancel the brownout";
    }

    @Override
    public List<TypeFields.Group> groups(Subject subject) {
      return List.of();
    }

    @Override
    public Map<String, String> changed(Subject subject, Form form) {
      Brownout ended = window(subject);
      Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
      if (!now.isBefore(ended.to())) {
        throw new Refusal(
            ProblemCode.FIELD_INVALID, "from", "This brownout is over. Nothing was changed.");
      }
      List<Brownout> others =
          requireLegacy(subject).brownouts().stream()
              .flatMap(
                  window ->
                      !window.equals(ended)
                          ? Stream.of(window)
                          : Optional.of(new Brownout(ended.from(), now, ended.status()))
                              .filter(cut -> cut.from().isBefore(cut.to()))
                              .stream())
              .toList();
      return subject.textsWith(
          Map.of(BROWNOUTS, String.join("\n", others.stream().map(Brownout::toString).toList())));
    }

    @Override
    public List<String> consequences(Subject subject, Map<String, String> after) {
      return List.of(
          window(subject).isOn(clock.instant())
              ? "The brownout ends as soon as you confirm; legacy IDs of "
                  + subject.name()
                  + " are redirected again."
              : "The brownout does not take place.");
    }
  }
}
