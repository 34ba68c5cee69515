package dev.coatcheck.api.console.types;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All fields of a type, as forms and pages show them. */
final class TypeFields {
  /** Which of the older public IDs a type has. */
  private static final String SCHEME = "older.scheme";

  private static final String PATTERN = "pattern";
  private static final String NONE = "none";

  /** The fields of each kind of older public IDs. */
  private static final Map<String, List<String>> OLDER =
      Map.of(
          PATTERN,
          List.of("text_prefix", "alphabet", "min_length", "max_length"),
          "hashids",
          List.of("text_prefix", "alphabet", "min_length", "salt"),
          "sqids",
          List.of("text_prefix", "alphabet", "min_length"),
          "typeid",
          List.of("text_prefix", "prefix"),
          "uuid",
          List.of("text_prefix"));

  /** Groups with what a type without them does; then name, label, kind with choices, hint. */
  private static final String TABLE =
      """
      # Public IDs and keys |
      prefix | Prefix | text | Of its public IDs: 1 to 32 of a-z, 0-9 and _, such as ch. Fixed once the type exists.
      key | Kind of keys | choice bigint,uuid | Fixed once the type exists.
      generate | Keys are generated as | choice usual=usual for the kind of keys,snowflake=Snowflakes,segment=numbers of a segment,uuidv7=UUIDs of version 7,none=not at all: each mint brings its key | Usual are Snowflakes for bigint, UUIDs of version 7 for uuid. Fixed once the type exists.
      layout | Layout of the Snowflakes | text | Empty: the default layout.
      tag | Tag of the segment | text | For keys from a segment only.
      # Redirect | No redirect: /r/{id} answers 404.
      redirect.template | Target of /r/{id} | text | Such as https://shop.example/orders/{id}. Empty: no redirect.
      redirect.status | Status of the redirect | choice 302,301,307,308 | 301 and 308 are kept by browsers, for good.
      redirect.max_age_seconds | Seconds that caches keep the redirect | number | 0: not at all.
      redirect.public | Anyone may follow the redirect | choice yes,no | no: strangers get 404.
      redirect.expose_key | The target may hold {key} | choice no,yes | yes publishes internal keys.
      # Legacy IDs | No legacy IDs: /legacy/{type}/{n} answers 404.
      legacy | Legacy IDs are redirected | choice no,yes | At /legacy/{type}/{n}, and by proxies.
      legacy.status | Status of the redirect of legacy IDs | choice 308,301 |
      legacy.public | Anyone may follow legacy IDs | choice yes,no | no: strangers get 404.
      legacy.max_id | Highest legacy ID that was ever issued | text | A decimal. Empty: no limit.
      legacy.deprecated_at | Deprecated from | text | Time for the header Deprecation, in UTC, such as 2026-01-31T12:00:00Z.
      legacy.sunset_at | Sunset | text | From then on legacy IDs answer 410. In UTC, such as 2027-01-31T12:00:00Z.
      legacy.sunset_link | Page about the sunset | text | URL for the header Link.
      legacy.max_age_seconds | Seconds that caches keep the redirect of legacy IDs | number | 0: not at all.
      legacy.brownouts | Brownouts | windows | One per line, FROM/TO: 2026-12-01T10:00:00Z/2026-12-01T11:00:00Z. They answer 503, or 410 with ,410 behind the line.
      legacy.brownouts_exempt | API keys that notice no brownout | lines | IDs of API keys, one per line: key_2bN8Qx0LmT4a.
      # URLs with legacy IDs | No URL templates: proxies redirect no URLs of this type.
      url_templates | URL templates | lines | Paths with a legacy ID, one per line: /orders/{legacy:order}.
      # Ended links | Browsers get the gateway's own page for an ended link.
      dead_link.title | Title of the page for ended links | languages | One language per line: en=This order was deleted.
      dead_link.text | Text of the page for ended links | languages | The same languages, one per line: en=Ask the shop for a new link.
      dead_link.default_language | Language for all others | text | Such as en. Needed with several languages.
      fallback_url | Or send browsers to | text | One URL for all ended links, instead of a page.
      # Older public IDs | No public IDs of an older system are answered.
      older.scheme | Older public IDs are | choice none,pattern=texts of a pattern,hashids=Hashids,sqids=Sqids,typeid=TypeIDs,uuid=UUIDs | Each text of a pattern has a row. The others are decoded without rows.
      older.text_prefix | Text prefix of older public IDs | text | The fixed text in front of them.
      older.alphabet | Alphabet of older public IDs | text | Its characters in order, for texts of a pattern, Hashids and Sqids.
      older.min_length | Least length of older public IDs | number | Without the text prefix.
      older.max_length | Greatest length of older public IDs | number | For texts of a pattern.
      older.salt | Salt of Hashids | text |
      older.prefix | Prefix of TypeIDs | text | Without the underscore.
      # Client IDs and outages |
      client_names | Client IDs without a namespace | choice principal=belong to the API key's principal,required=refused,shared=shared by all callers | A client ID is unique within its namespace.
      on_outage | While Postgres is unavailable | choice serve_stale=answered from memory,refuse=refused with 503 | For public IDs that the gateway has in memory. All others get 503.
      stale_seconds_max | Seconds for which memory is trusted | number | 0 to 60.
      # Retirement | The type gets new public IDs.
      retired | Retired | choice no,yes | yes: no new public IDs. Those that it has keep working.
      """;

  static final List<Group> GROUPS = parse();

  static final List<TypeField> ALL =
      GROUPS.stream().flatMap(group -> group.fields().stream()).toList();

  private TypeFields() {}

  /**
   * Some fields under one heading.
   *
   * @param absent what a type does without any of them; may be empty
   */
  record Group(String title, String absent, List<TypeField> fields) {
    Group {
      fields = List.copyOf(fields);
    }
  }

  /** Without those that a type has for good. */
  static List<Group> policies() {
    return GROUPS.subList(1, GROUPS.size());
  }

  /** Some fields by their names, under a heading. */
  static Group some(String title, String... names) {
    return new Group(title, "", Stream.of(names).map(name -> named(name).orElseThrow()).toList());
  }

  private static Optional<TypeField> named(String name) {
    return ALL.stream().filter(field -> field.name().equals(name)).findFirst();
  }

  private static List<Group> parse() {
    List<Group> groups = new ArrayList<>();
    for (String part : TABLE.split("(?m)^# ", -1)) {
      List<String> lines = part.lines().toList();
      if (!lines.isEmpty()) {
        String[] heading = lines.getFirst().split(" *\\| *", 2);
        groups.add(
            new Group(
                heading[0], heading[1], lines.stream().skip(1).map(TypeField::parse).toList()));
      }
    }
    return groups;
  }

  /** The fields of a request as texts, by the names of the form's fields. */
  static SequencedMap<String, String> texts(Map<String, ? extends @Nullable Object> body) {
    Map<String, @Nullable Object> flat = new LinkedHashMap<>();
    flatten("", body, flat);
    flat.put("legacy", body.get("legacy") != null);
    if (body.get("public_rule") instanceof Map<?, ?> rule) {
      flatten("older.", rule, flat);
    } else if (body.get("public_pattern") instanceof Map<?, ?> pattern) {
      flatten("older.", pattern, flat);
      flat.put(SCHEME, PATTERN);
    } else {
      flat.put(SCHEME, NONE);
    }
    SequencedMap<String, String> texts = new LinkedHashMap<>();
    ALL.forEach(field -> texts.put(field.name(), field.text(flat.get(field.name()))));
    return texts;
  }

  private static void flatten(String path, Map<?, ?> body, Map<String, @Nullable Object> flat) {
    body.forEach(
        (name, value) -> {
          flat.put(path + name, value);
          if (value instanceof Map<?, ?> inner && path.isEmpty()) {
            flatten(name + ".", inner, flat);
          }
        });
  }

  /** The body of a request that the texts of a form say; empty ones are left out. */
  static Map<String, @Nullable Object> body(Map<String, String> texts) {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    boolean isRedirected = !texts.getOrDefault("redirect.template", "").isEmpty();
    boolean hasLegacyIds = texts.getOrDefault("legacy", "").equals("yes");
    if (hasLegacyIds) {
      body.put("legacy", new LinkedHashMap<String, Object>());
    }
    for (TypeField field : ALL) {
      String text = texts.getOrDefault(field.name(), "");
      boolean isLeftOut =
          text.isEmpty()
              || field.name().startsWith("older.")
              || field.name().equals("legacy")
              || (field.name().equals("generate") && text.equals("usual"))
              || (field.name().startsWith("redirect.") && !isRedirected)
              || (field.name().startsWith("legacy.") && !hasLegacyIds);
      if (!isLeftOut) {
        put(body, field.name(), field.value(text));
      }
    }
    older(texts, body);
    return body;
  }

  private static void older(Map<String, String> texts, Map<String, @Nullable Object> body) {
    String scheme = texts.getOrDefault(SCHEME, NONE);
    String owner = scheme.equals(PATTERN) ? "public_pattern." : "public_rule.";
    if (scheme.isEmpty() || scheme.equals(NONE)) {
      return;
    }
    if (scheme.equals(PATTERN)) {
      body.put("public_pattern", new LinkedHashMap<String, Object>());
    } else {
      put(body, owner + "scheme", scheme);
    }
    for (String name : OLDER.getOrDefault(scheme, List.of())) {
      String text = texts.getOrDefault("older." + name, "");
      if (!text.isEmpty() || name.equals("prefix")) {
        put(body, owner + name, named("older." + name).orElseThrow().value(text));
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static void put(Map<String, @Nullable Object> body, String path, Object value) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      body.put(path, value);
    } else {
      ((Map<String, Object>)
              requireNonNull(
                  body.computeIfAbsent(
                      path.substring(0, dot), _ -> new LinkedHashMap<String, Object>())))
          .put(path.substring(dot + 1), value);
    }
  }

  /** The label of a field by its path in a request; the path itself if it is none of a form. */
  static String label(String path) {
    String name =
        path.replaceFirst("^public_(rule|pattern)\\.", "older.").replaceFirst("\\[[0-9]+].*$", "");
    return named(name).map(TypeField::label).orElse(path);
  }
}
