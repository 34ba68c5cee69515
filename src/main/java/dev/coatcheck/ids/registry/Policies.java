package dev.coatcheck.ids.registry;

import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * All that may change about a type. What a caller leaves out falls back to its default. Requests,
 * answers and the table have the same JSON, which {@link #read} declares.
 *
 * @param urlTemplates of URLs with its legacy IDs, each of which has one of the type
 * @param json every field, with null for what the type doesn't have
 */
public record Policies(
    Optional<Redirect> redirect,
    Optional<LegacyPolicy> legacy,
    DeadLink deadLink,
    List<LegacyUrlTemplate> urlTemplates,
    Optional<OlderSystem> olderSystem,
    OutagePolicy outage,
    Map<String, @Nullable Object> json) {
  public static final Policies DEFAULT =
      read(
          JsonObject.of(JsonNodeFactory.instance.objectNode()),
          "none",
          KeyKind.BIGINT,
          RedirectHosts.any());

  private static final String URL_TEMPLATES = "url_templates";
  private static final int URL_TEMPLATES_MAX = 20;

  public Policies {
    urlTemplates = List.copyOf(urlTemplates);
    json = Collections.unmodifiableMap(json);
  }

  /**
   * Reads the policies of a type, whose other fields the same object may have.
   *
   * @throws dev.coatcheck.core.json.JsonFault for what they can't be
   */
  public static Policies read(JsonObject type, String name, KeyKind keys, RedirectHosts hosts) {
    JsonObject json = type.recording();
    return new Policies(
        json.optionalObject("redirect").map(redirect -> Redirect.read(redirect, hosts)),
        json.optionalObject("legacy").map(LegacyPolicy::read),
        DeadLink.read(json, hosts),
        urlTemplates(json, name),
        OlderSystem.read(json, keys),
        new OutagePolicy(
            json.constant("on_outage", OnOutage.SERVE_STALE),
            json.integer("stale_seconds_max", 0, 60, 60)),
        json.recorded());
  }

  public static String urlTemplateAt(int index) {
    return URL_TEMPLATES + "[" + index + "]";
  }

  private static List<LegacyUrlTemplate> urlTemplates(JsonObject json, String typeName) {
    List<String> texts = json.optionalStrings(URL_TEMPLATES, Integer.MAX_VALUE);
    if (texts.size() > URL_TEMPLATES_MAX) {
      throw json.invalid(URL_TEMPLATES, "A type has at most 20 URL templates.");
    }
    List<LegacyUrlTemplate> templates = new ArrayList<>();
    for (String text : texts) {
      switch (LegacyUrlTemplate.parse(text)) {
        case LegacyUrlTemplate.Parsed.Accepted(LegacyUrlTemplate template)
            when template.typeNames().contains(typeName) ->
            templates.add(template);
        case LegacyUrlTemplate.Parsed.Accepted _ ->
            throw refused(
                json,
                templates.size(),
                "A URL template of a type has a legacy ID of this type, {legacy:%s}. Put the template into the type that it names."
                    .formatted(typeName));
        case LegacyUrlTemplate.Parsed.Refused(String reason) ->
            throw refused(json, templates.size(), "The URL template " + reason + ".");
      }
    }
    return templates;
  }

  private static JsonFault refused(JsonObject json, int template, String detail) {
    return json.refused("url_template_refused", urlTemplateAt(template), detail);
  }
}
