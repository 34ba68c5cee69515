package dev.coatcheck.app.cli;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import dev.coatcheck.ids.registry.Brownout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The fields of a type as options of {@code types put}, {@code set} and {@code diff}. The gateway
 * knows their defaults.
 */
final class TypeFlags implements IModelTransformer {
  private static final String PUBLIC_RULE = "public_rule";
  private static final String PUBLIC_PATTERN = "public_pattern";
  private static final List<String> PATTERN_FIELDS =
      List.of("text_prefix", "alphabet", "min_length", "max_length");
  private static final List<String> RULE_FIELDS =
      List.of("text_prefix", "alphabet", "min_length", "salt", "prefix");

  /** The option, its field in the body, what it takes, and its help. */
  private static final String TABLE =
      """
      --prefix                   | prefix                   | PREFIX      | Prefix of its public IDs.
      --key                      | key                      | KIND        | What its keys are: bigint or uuid. Default: bigint.
      --generate                 | generate                 | HOW         | Keys of mints that bring none: snowflake, segment, uuidv7, or none if each mint brings its key. Default: snowflake; for uuid keys, uuidv7.
      --layout                   | layout                   | LAYOUT      | Layout of the Snowflakes. Default: default.
      --tag                      | tag                      | TAG         | Tag of the segment that the keys come from.
      --redirect                 | redirect.template        | TEMPLATE    | Target of /r/{id}, for instance https://shop.example/charges/{id}.
      --redirect-status          | redirect.status          | STATUS int  | 301, 302, 307 or 308. Default: 302.
      --redirect-max-age-seconds | redirect.max_age_seconds | SECONDS int | How long the redirect may be cached. Default: 0.
      --redirect-private         | redirect.public          | false       | Answer 404 to the public.
      --expose-key               | redirect.expose_key      | true        | Allow {key} in the template.
      --legacy                   | legacy.                  | true        | Redirect the type's legacy IDs at /legacy/NAME/{n}.
      --legacy-status            | legacy.status            | STATUS int  | 301 or 308. Default: 308.
      --legacy-private           | legacy.public            | false       | Answer 404 to the public.
      --legacy-max-id            | legacy.max_id            | NUMBER      | The highest legacy ID that was ever issued.
      --legacy-deprecated-at     | legacy.deprecated_at     | TIME        | Time for the Deprecation header, for instance 2026-01-31T12:00:00Z.
      --legacy-sunset-at         | legacy.sunset_at         | TIME        | Time for the Sunset header; from then on the answer is 410.
      --legacy-max-age-seconds   | legacy.max_age_seconds   | SECONDS int | How long the redirect may be cached. Default: 0.
      --legacy-sunset-link       | legacy.sunset_link       | URL         | Page about the end of the legacy IDs, for the Link header.
      --legacy-brownout          | legacy.brownouts         | FROM/TO windows | Window in which legacy IDs answer 503, for instance 2026-12-01T10:00:00Z/2026-12-01T11:00:00Z, or 410 with ,410 behind it. May be repeated, up to 50 times.
      --legacy-brownout-exempt   | legacy.brownouts_exempt  | KEY_ID list | API key that notices no brownout, by its ID, for instance key_2bN8Qx0LmT4a. May be repeated.
      --dead-link-title          | dead_link.title          | LANGUAGE=TITLE map | Title of the page that browsers get for an ended link, for instance en=Sold. May be repeated, once for each language.
      --dead-link-text           | dead_link.text           | LANGUAGE=TEXT map | Text of that page, in the same languages.
      --dead-link-language       | dead_link.default_language | LANGUAGE  | Language for visitors who ask for none of these. Default: the only one.
      --fallback-url             | fallback_url             | URL         | Where browsers are sent from an ended link, instead of that page.
      --url-template             | url_templates            | PATH list   | Path of URLs with legacy IDs of the type, for instance /orders/{legacy:order}. May be repeated, up to 20 times.
      --public-scheme            | public_rule.scheme       | SCHEME      | How older public IDs are known: hashids, sqids, typeid and uuid are decoded; pattern says that each has a row.
      --public-text-prefix       | public_rule.text_prefix  | TEXT        | Fixed text in front of older public IDs.
      --public-alphabet          | public_rule.alphabet     | CHARACTERS  | Alphabet of older public IDs, in its order; for hashids, sqids and pattern.
      --public-min-length        | public_rule.min_length   | LENGTH int  | Least length without the fixed text; for hashids, sqids and pattern.
      --public-max-length        | public_rule.max_length   | LENGTH int  | Greatest length without the fixed text; for pattern.
      --public-salt-file         | public_rule.salt         | FILE salt   | File with the salt, or - for standard input; for hashids. A line break at its end is none of the salt.
      --public-type-name         | public_rule.prefix       | PREFIX      | Prefix of TypeIDs without the underscore, or an empty text; for typeid.
      --client-names             | client_names             | RULE        | Namespace of client IDs that come without a namespace: required (refused), principal (of the API key) or shared. Default: unchanged; for a new type, principal.
      --sealed-from              | sealed.from              | TIME        | Keys of this time or later have computed public IDs and need no row. Set once, with --seal-key.
      --seal-key                 | sealed.seal_key          | FINGERPRINT | Seal key of the first era, as seal-key list prints it.
      --retired                  | retired                  | true        | No new public IDs; those that the type has keep working.
      --on-outage                | on_outage                | HOW         | Answers while Postgres is unavailable: serve_stale or refuse. Default: serve_stale.
      --stale-seconds-max        | stale_seconds_max        | SECONDS int | Seconds for which stale answers are served, 0 to 60. Default: 60.
      """;

  private static final List<Flag> FLAGS = TABLE.lines().map(Flag::parse).toList();

  /** What {@code types set} can take away, and the field that is null without it. */
  private static final SequencedMap<String, String> REMOVALS = new LinkedHashMap<>();

  static {
    REMOVALS.put("--no-redirect", "redirect");
    REMOVALS.put("--no-legacy", "legacy");
    REMOVALS.put("--no-legacy-brownouts", "legacy.brownouts");
    REMOVALS.put("--no-url-templates", "url_templates");
    REMOVALS.put("--no-public-scheme", PUBLIC_RULE);
  }

  private record Flag(String name, String field, String takes, String help) {
    static Flag parse(String line) {
      String[] cells = line.split(" *\\| ", 4);
      return new Flag(cells[0], cells[1], cells[2].strip(), cells[3]);
    }

    OptionSpec spec() {
      OptionSpec.Builder spec = OptionSpec.builder(name).description(help);
      if (takes.equals("true") || takes.equals("false")) {
        // A type has legacy IDs or not, and what is left out is not.
        return field.endsWith(".")
            ? spec.arity("0").type(Boolean.class).build()
            : spec.arity("0..1").fallbackValue("true").type(Boolean.class).build();
      }
      String[] label = takes.split(" ", 2);
      spec.paramLabel(label[0]);
      return switch (label[label.length - 1]) {
        case "int" -> spec.type(Integer.class).build();
        case "map" -> spec.type(Map.class).auxiliaryTypes(String.class, String.class).build();
        case "list", "windows" -> spec.type(List.class).auxiliaryTypes(String.class).build();
        default -> spec.type(String.class).build();
      };
    }

    void set(ParseResult verb, Map<String, @Nullable Object> body) {
      Object value = verb.matchedOption(name).getValue();
      put(
          switch (value) {
            case String file when takes.endsWith(" salt") -> salt(verb, Path.of(file));
            case Boolean isOn -> isOn == Boolean.parseBoolean(takes);
            case List<?> texts when takes.endsWith(" windows") ->
                texts.stream().map(String::valueOf).map(Brownout::fields).toList();
            default -> value;
          },
          body);
    }

    @SuppressWarnings("unchecked")
    void put(@Nullable Object value, Map<String, @Nullable Object> body) {
      int dot = field.indexOf('.');
      Map<String, @Nullable Object> fields =
          dot < 0
              ? body
              : (Map<String, @Nullable Object>)
                  requireNonNull(
                      body.computeIfAbsent(field.substring(0, dot), _ -> new LinkedHashMap<>()));
      if (!field.endsWith(".")) {
        fields.put(field.substring(dot + 1), value);
      }
    }
  }

  @Override
  public CommandSpec transform(CommandSpec verb) {
    FLAGS.forEach(flag -> verb.addOption(flag.spec()));
    if (verb.name().equals("set")) {
      REMOVALS.forEach(
          (name, field) ->
              verb.addOption(
                  OptionSpec.builder(name)
                      .arity("0")
                      .type(boolean.class)
                      .description("Set " + field + " of the type to null.")
                      .build()));
    }
    return verb;
  }

  /** The option that fills a field of a type. */
  static Optional<String> of(String field) {
    return FLAGS.stream()
        .filter(flag -> flag.field().equals(field) || flag.field().equals(field + "."))
        .map(Flag::name)
        .findFirst();
  }

  static boolean isAnyIn(ParseResult verb) {
    return FLAGS.stream().anyMatch(flag -> verb.hasMatchedOption(flag.name()));
  }

  /** The body of a put. */
  static Map<String, @Nullable Object> whole(ParseResult verb) {
    List<String> faults = new ArrayList<>();
    if (!verb.hasMatchedOption("--prefix")) {
      faults.add("Missing required option: '--prefix=PREFIX'");
    }
    addMissingPolicy(verb, "redirect", faults);
    addMissingPolicy(verb, "legacy", faults);
    Map<String, @Nullable Object> body = given(verb, faults);
    body.putIfAbsent("key", "bigint");
    return body;
  }

  /** An option of a policy that a put doesn't turn on would have no effect. */
  private static void addMissingPolicy(ParseResult verb, String policy, List<String> faults) {
    if (!verb.hasMatchedOption("--" + policy)) {
      givenOf(verb, policy).forEach(given -> faults.add(given + " needs --" + policy + "."));
    }
  }

  /** The options in the arguments that say something of a field. */
  private static Stream<String> givenOf(ParseResult verb, String field) {
    return FLAGS.stream()
        .filter(flag -> flag.field().equals(field) || flag.field().startsWith(field + "."))
        .map(Flag::name)
        .filter(verb::hasMatchedOption);
  }

  /** What is taken away can't be set as well. */
  private static void addContradictions(ParseResult verb, List<String> faults) {
    REMOVALS.forEach(
        (name, field) -> {
          if (verb.hasMatchedOption(name)) {
            Stream.concat(
                    givenOf(verb, field),
                    REMOVALS.keySet().stream()
                        .filter(other -> other.startsWith(name + "-"))
                        .filter(verb::hasMatchedOption))
                .forEach(other -> faults.add(notBoth(name, other)));
          }
        });
  }

  private static String notBoth(String one, String other) {
    return "Give " + one + " or " + other + ", not both.";
  }

  /** The body of a patch: only what was given. */
  static Map<String, @Nullable Object> changes(ParseResult verb) {
    List<String> faults = new ArrayList<>();
    addContradictions(verb, faults);
    Map<String, @Nullable Object> body = given(verb, faults);
    if (verb.hasMatchedOption("--public-scheme")) {
      // Nothing of the rule or pattern before may stay, so each field is told.
      boolean isPattern = body.containsKey(PUBLIC_PATTERN);
      Map<String, @Nullable Object> older = new LinkedHashMap<>();
      (isPattern ? PATTERN_FIELDS : RULE_FIELDS).forEach(field -> older.put(field, null));
      if (body.get(isPattern ? PUBLIC_PATTERN : PUBLIC_RULE) instanceof Map<?, ?> named) {
        named.forEach((field, value) -> older.put(String.valueOf(field), value));
      }
      body.put(isPattern ? PUBLIC_PATTERN : PUBLIC_RULE, older);
      body.put(isPattern ? PUBLIC_RULE : PUBLIC_PATTERN, null);
    }
    REMOVALS.forEach(
        (name, field) -> {
          if (verb.hasMatchedOption(name)) {
            new Flag(name, field, "", "").put(null, body);
            if (field.equals(PUBLIC_RULE)) {
              body.put(PUBLIC_PATTERN, null);
            }
          }
        });
    if (body.isEmpty()) {
      throw new ParameterException(
          verb.commandSpec().commandLine(), "Name the fields to change; --help lists them.");
    }
    return body;
  }

  /** What the arguments say of the fields; refuses them with all their faults. */
  private static Map<String, @Nullable Object> given(ParseResult verb, List<String> faults) {
    if (verb.hasMatchedOption("--fallback-url")) {
      givenOf(verb, "dead_link").forEach(text -> faults.add(notBoth(text, "--fallback-url")));
    }
    if (!verb.hasMatchedOption("--public-scheme")
        && !verb.hasMatchedOption("--no-public-scheme")
        && givenOf(verb, PUBLIC_RULE).findAny().isPresent()) {
      faults.add("Options --public-… need --public-scheme.");
    }
    refuse(verb, faults);
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    for (Flag flag : FLAGS) {
      if (verb.hasMatchedOption(flag.name())) {
        flag.set(verb, body);
      }
    }
    if (body.get(PUBLIC_RULE) instanceof Map<?, ?> older) {
      if ("pattern".equals(older.get("scheme"))) {
        older.remove("scheme");
        body.put(PUBLIC_PATTERN, body.remove(PUBLIC_RULE));
      }
    }
    return body;
  }

  /** A file has it, because every user of a machine can read the arguments of its processes. */
  private static String salt(ParseResult verb, Path file) {
    String why;
    try {
      String salt = InputFile.textOrStandardInput(file).replaceFirst("\\R\\z", "");
      if (!salt.isEmpty()) {
        return salt;
      }
      why = "it is empty.";
    } catch (IOException unreadable) {
      why = FileWords.why(unreadable);
    }
    throw new ParameterException(
        verb.commandSpec().commandLine(), "can't read the salt from " + file + ": " + why);
  }

  private static void refuse(ParseResult verb, List<String> faults) {
    if (!faults.isEmpty()) {
      String message =
          faults.size() == 1
              ? faults.getFirst()
              : "the flags have %d faults:%n  - %s"
                  .formatted(faults.size(), String.join(System.lineSeparator() + "  - ", faults));
      throw new ParameterException(verb.commandSpec().commandLine(), message);
    }
  }
}
