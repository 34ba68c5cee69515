package dev.coatcheck.ids.registry;

import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import java.util.Set;

/**
 * Where {@code /r/{id}} leads for a type.
 *
 * @param maxAgeSeconds how long a cache may keep the redirect
 * @param isPublic whether anyone may follow it; otherwise it looks like an unknown ID
 * @param exposeKey whether the internal key may appear in a public redirect
 */
public record Redirect(
    RedirectTemplate template, int status, int maxAgeSeconds, boolean isPublic, boolean exposeKey) {
  static final int MAX_AGE_SECONDS_MAX = 31_536_000;

  static Redirect read(JsonObject json, RedirectHosts hosts) {
    RedirectTemplate template =
        switch (RedirectTemplate.parse(json.string("template"), hosts)) {
          case RedirectTemplate.Parsed.Accepted(RedirectTemplate accepted) -> accepted;
          case RedirectTemplate.Parsed.Refused(String reason) ->
              throw refused(json, "The template " + reason + ".");
        };
    Redirect redirect =
        new Redirect(
            template,
            json.oneOf("status", Set.of(301, 302, 307, 308), 302),
            json.integer("max_age_seconds", 0, MAX_AGE_SECONDS_MAX, 0),
            json.bool("public", true),
            json.bool("expose_key", false));
    json.refuseOthers();
    if (redirect.isPublic && template.usesKey() && !redirect.exposeKey) {
      throw refused(
          json,
          "A public redirect with {key} would publish the internal key. Use {id}, or set expose_key"
              + " to true if the key may be public.");
    }
    return redirect;
  }

  private static JsonFault refused(JsonObject json, String detail) {
    return json.refused("redirect_template_refused", "template", detail);
  }
}
