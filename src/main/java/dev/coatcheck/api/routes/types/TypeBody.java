package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.JsonObject;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.registry.ClientNames;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.OnOutage;
import dev.coatcheck.ids.registry.OutagePolicy;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.RedirectTemplate;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads a type from a request. A field that is left out has its default; only the rule of client
 * IDs stays as it is, because a change of it would hide the client IDs that the type already has.
 */
final class TypeBody {
  private static final int REDIRECT_STATUS_DEFAULT = 302;
  private static final int LEGACY_STATUS_DEFAULT = 308;
  private static final String URL_TEMPLATES = "url_templates";

  private final RedirectHosts redirectHosts;
  private final InstantSource clock;

  TypeBody(RedirectHosts redirectHosts, InstantSource clock) {
    this.redirectHosts = redirectHosts;
    this.clock = clock;
  }

  TypeDefinition definition(String name, JsonObject body) {
    if (!Type.isName(name)) {
      throw Refusal.ofParameter(
          "name", "A type's name is a lower-case letter, then up to 62 of a-z, 0-9 and _.");
    }
    body.allow(
        "prefix",
        "key_scheme",
        "key_layout",
        "redirect",
        "legacy",
        URL_TEMPLATES,
        OlderSystemBody.PATTERN,
        OlderSystemBody.RULE,
        "client_names",
        "on_outage",
        "stale_seconds_max");
    Prefix prefix =
        Prefix.parse(body.string("prefix"))
            .orElseThrow(
                () ->
                    body.invalid(
                        "prefix",
                        "A prefix is 1 to 32 of a-z, 0-9 and _, starts with a letter, and neither"
                            + " ends with _ nor doubles it."));
    KeyScheme scheme =
        KeyScheme.named(body.string("key_scheme"))
            .orElseThrow(
                () -> body.invalid("key_scheme", "The key schemes are snowflake and uuidv7."));
    return new TypeDefinition(
        name,
        prefix,
        scheme,
        Parameters.layout(body, "key_layout", scheme, clock.instant()),
        policies(name, body, scheme),
        clientNames(body));
  }

  private Policies policies(String name, JsonObject body, KeyScheme scheme) {
    return new Policies(
        body.optionalObject("redirect").map(this::redirect),
        body.optionalObject("legacy").map(TypeBody::legacy),
        urlTemplates(name, body),
        OlderSystemBody.read(body, scheme),
        outage(body));
  }

  private static Optional<ClientNames> clientNames(JsonObject body) {
    return body.optionalString("client_names")
        .map(
            name ->
                ClientNames.named(name)
                    .orElseThrow(
                        () ->
                            body.invalid(
                                "client_names",
                                "The rules of client IDs are required, principal and shared.")));
  }

  private Redirect redirect(JsonObject body) {
    body.allow("template", "status", "max_age_seconds", "public", "expose_key");
    int status = body.integer("status", 301, 308, REDIRECT_STATUS_DEFAULT);
    if (!Redirect.STATUSES.contains(status)) {
      throw body.invalid("status", "A redirect status is 301, 302, 307 or 308.");
    }
    int maxAgeSeconds = body.integer("max_age_seconds", 0, Redirect.MAX_AGE_SECONDS_MAX, 0);
    boolean isPublic = body.bool("public", true);
    boolean exposeKey = body.bool("expose_key", false);
    RedirectTemplate template =
        switch (RedirectTemplate.parse(body.string("template"), redirectHosts)) {
          case RedirectTemplate.Parsed.Accepted(RedirectTemplate accepted) -> accepted;
          case RedirectTemplate.Parsed.Refused(String reason) ->
              throw refused(body, "The template " + reason + ".");
        };
    if (isPublic && template.usesKey() && !exposeKey) {
      throw refused(
          body,
          "A public redirect with {key} would publish the internal key. Use {id}, or set expose_key"
              + " to true if the key may be public.");
    }
    return new Redirect(template, status, maxAgeSeconds, isPublic, exposeKey);
  }

  private static LegacyPolicy legacy(JsonObject body) {
    body.allow("status", "public", "max_id", "deprecated_at", "sunset_at", "max_age_seconds");
    int status = body.integer("status", 301, 308, LEGACY_STATUS_DEFAULT);
    if (!LegacyPolicy.STATUSES.contains(status)) {
      throw body.invalid("status", "A legacy redirect status is 301 or 308.");
    }
    Optional<Instant> deprecatedAt = time(body, "deprecated_at");
    Optional<Instant> sunsetAt = time(body, "sunset_at");
    if (!LegacyPolicy.isInOrder(deprecatedAt, sunsetAt)) {
      throw body.invalid("sunset_at", "sunset_at can't be before deprecated_at.");
    }
    return new LegacyPolicy(
        status,
        body.bool("public", true),
        maxId(body),
        deprecatedAt,
        sunsetAt,
        body.integer("max_age_seconds", 0, LegacyPolicy.MAX_AGE_SECONDS_MAX, 0));
  }

  private static List<LegacyUrlTemplate> urlTemplates(String typeName, JsonObject body) {
    List<String> texts = body.optionalStrings(URL_TEMPLATES, Integer.MAX_VALUE);
    if (texts.size() > Policies.URL_TEMPLATES_MAX) {
      throw body.invalid(URL_TEMPLATES, "A type has at most 20 URL templates.");
    }
    List<LegacyUrlTemplate> templates = new ArrayList<>();
    for (String text : texts) {
      templates.add(
          switch (LegacyUrlTemplate.parse(text)) {
            case LegacyUrlTemplate.Parsed.Accepted(LegacyUrlTemplate accepted) -> accepted;
            case LegacyUrlTemplate.Parsed.Refused(String reason) ->
                throw urlTemplateRefused(
                    body, templates.size(), "The URL template " + reason + ".");
          });
      if (!templates.getLast().typeNames().contains(typeName)) {
        throw urlTemplateRefused(
            body,
            templates.size() - 1,
            "A URL template of a type has a legacy ID of this type, {legacy:"
                + typeName
                + "}. Put the template into the type that it names.");
      }
    }
    return templates;
  }

  private static Refusal urlTemplateRefused(JsonObject body, int index, String detail) {
    return new Refusal(ProblemCode.URL_TEMPLATE_REFUSED, body.at(urlTemplateAt(index)), detail);
  }

  /** The field of a URL template in the body. */
  static String urlTemplateAt(int index) {
    return URL_TEMPLATES + "[" + index + "]";
  }

  private static OptionalLong maxId(JsonObject body) {
    Optional<String> text = body.nullableString("max_id");
    OptionalLong number = text.map(LegacyNumber::parse).orElseGet(OptionalLong::empty);
    if (text.isPresent() && number.isEmpty()) {
      throw body.invalid("max_id", "Send a decimal from 1 to 2^63 - 1 as a string, or null.");
    }
    return number;
  }

  /** To the second: the headers Deprecation and Sunset have no more. */
  private static Optional<Instant> time(JsonObject body, String name) {
    return body.nullableTime(name).map(time -> time.truncatedTo(ChronoUnit.SECONDS));
  }

  private static OutagePolicy outage(JsonObject body) {
    OnOutage onOutage =
        body.optionalString("on_outage")
            .map(
                name ->
                    OnOutage.named(name)
                        .orElseThrow(
                            () -> body.invalid("on_outage", "on_outage is serve_stale or refuse.")))
            .orElse(OutagePolicy.DEFAULT.onOutage());
    return new OutagePolicy(
        onOutage,
        body.integer(
            "stale_seconds_max",
            0,
            OutagePolicy.STALE_SECONDS_LIMIT,
            OutagePolicy.DEFAULT.staleSecondsMax()));
  }

  private static Refusal refused(JsonObject body, String detail) {
    return new Refusal(ProblemCode.REDIRECT_TEMPLATE_REFUSED, body.at("template"), detail);
  }
}
