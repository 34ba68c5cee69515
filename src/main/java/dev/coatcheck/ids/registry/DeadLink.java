package dev.coatcheck.ids.registry;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** What a browser gets for a public link of a type that was ended for good. */
public sealed interface DeadLink {

  /** Reads the fields {@code dead_link} and {@code fallback_url}, of which a type has one. */
  static DeadLink read(JsonObject type, RedirectHosts hosts) {
    Optional<DeadLink> texts = type.optionalObject("dead_link").map(Texts::read);
    Optional<DeadLink> fallback =
        type.nullableString("fallback_url").map(url -> Fallback.read(type, url, hosts));
    if (texts.isPresent() && fallback.isPresent()) {
      throw type.invalid(
          "fallback_url", "A type has a dead_link or a fallback_url. Leave out one of them.");
    }
    return texts.or(() -> fallback).orElseGet(Plain::new);
  }

  /** The same, without a fallback that leads to another host than the operator lists. */
  default DeadLink within(RedirectHosts hosts) {
    return this instanceof Fallback(RedirectTemplate target) && !target.isAllowed(hosts)
        ? new Plain()
        : this;
  }

  /** The gateway's own page. */
  record Plain() implements DeadLink {}

  /** Plain text, not escaped for HTML. */
  record Text(String title, String text) {}

  /** A page with the type's own text. */
  record Texts(String defaultLanguage, Map<String, Text> byLanguage) implements DeadLink {
    private static final int LANGUAGES_MAX = 20;
    private static final int TITLE_LENGTH_MAX = 120;
    private static final int TEXT_LENGTH_MAX = 1_000;

    /** The tags of RFC 5646 in their usual spelling, so that no language has two. */
    private static final Pattern LANGUAGE =
        Pattern.compile("[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?");

    public Texts {
      byLanguage = Map.copyOf(byLanguage);
    }

    public Set<String> languages() {
      return byLanguage.keySet();
    }

    /** The text in one of {@link #languages}. */
    public Text in(String language) {
      return requireNonNull(byLanguage.get(language), language);
    }

    private static Texts read(JsonObject json) {
      Optional<String> chosen = json.nullableString("default_language");
      Map<String, String> titles = byLanguage(json, "title", TITLE_LENGTH_MAX);
      Map<String, String> texts = byLanguage(json, "text", TEXT_LENGTH_MAX);
      json.refuseOthers();
      if (!titles.keySet().equals(texts.keySet())) {
        throw json.invalid("text", "title and text need the same languages.");
      }
      if (chosen.isEmpty() && titles.size() > 1) {
        throw json.missing(
            "default_language", "Send the language for visitors who ask for none of these.");
      }
      String language = chosen.orElseGet(() -> titles.keySet().iterator().next());
      if (!titles.containsKey(language)) {
        throw json.invalid("default_language", "This must be a language of title and text.");
      }
      json.record("default_language", language);
      Map<String, Text> both = new TreeMap<>();
      titles.forEach(
          (tag, title) -> both.put(tag, new Text(title, requireNonNull(texts.get(tag)))));
      return new Texts(language, both);
    }

    private static Map<String, String> byLanguage(JsonObject json, String field, int lengthMax) {
      JsonObject texts =
          json.optionalObject(field)
              .orElseThrow(
                  () -> json.missing(field, "Send this by language, such as {\"en\": \"Sold\"}."));
      if (texts.names().isEmpty() || texts.names().size() > LANGUAGES_MAX) {
        throw json.invalid(field, "This has 1 to " + LANGUAGES_MAX + " languages.");
      }
      Map<String, String> byLanguage = new TreeMap<>();
      for (String language : texts.names()) {
        if (!LANGUAGE.matcher(language).matches()) {
          throw json.invalid(field, "A language is a tag such as en, pt-BR or zh-Hant.");
        }
        byLanguage.put(language, text(texts, language, lengthMax));
      }
      return byLanguage;
    }

    private static String text(JsonObject texts, String language, int lengthMax) {
      String text = texts.string(language);
      if (text.isBlank() || text.codePointCount(0, text.length()) > lengthMax) {
        throw texts.invalid(language, "This text has 1 to " + lengthMax + " characters.");
      }
      if (!text.codePoints().allMatch(Texts::isPlain)) {
        throw texts.invalid(
            language,
            "This text holds a control character, such as a line break, or one that changes the"
                + " direction of the text. Leave it out.");
      }
      return text;
    }

    /** A text with hidden changes of direction is read differently from what it says. */
    private static boolean isPlain(int c) {
      return switch (Character.getType(c)) {
        case Character.CONTROL,
            Character.LINE_SEPARATOR,
            Character.PARAGRAPH_SEPARATOR,
            Character.SURROGATE ->
            false;
        default ->
            c != 0x061C // Arabic letter mark
                && c != 0x200E // left-to-right mark
                && c != 0x200F // right-to-left mark
                && (c < 0x202A || c > 0x202E) // embeddings and overrides
                && (c < 0x2066 || c > 0x2069); // isolates
      };
    }
  }

  /** A redirect to a URL without placeholders, the same for every link. */
  record Fallback(RedirectTemplate target) implements DeadLink {
    /** The paths of this gateway's links, and what a browser may turn into one of them. */
    private static final Pattern LEADS_BACK =
        Pattern.compile("(?i)^/+(r|legacy)/|/(\\.|%2e){1,2}(/|$)");

    private static Fallback read(JsonObject type, String url, RedirectHosts hosts) {
      return switch (RedirectTemplate.parse(url, hosts)) {
        case RedirectTemplate.Parsed.Refused(String reason) -> throw refused(type, reason);
        case RedirectTemplate.Parsed.Accepted _ when url.contains("{") ->
            throw refused(type, "has a placeholder, but is the same for every link");
        case RedirectTemplate.Parsed.Accepted _
            when LEADS_BACK.matcher(URI.create(url).getRawPath()).find() ->
            throw refused(
                type, "could be a loop: it has a dot segment, or starts like a link here");
        case RedirectTemplate.Parsed.Accepted(RedirectTemplate target) -> new Fallback(target);
      };
    }

    private static JsonFault refused(JsonObject type, String reason) {
      return type.refused(
          "redirect_template_refused", "fallback_url", "The fallback URL " + reason + ".");
    }
  }
}
