package dev.coatcheck.api.routes.types;

import dev.coatcheck.FuzzTexts;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.registry.RedirectHosts;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;

/** Types as they are put and patched: JSON, JSON merge patches, templates, patterns and rules. */
public final class TypeFuzz {
  private static final TypeBody BODIES =
      new TypeBody(RedirectHosts.any(), InstantSource.fixed(Instant.parse("2026-11-23T00:00:00Z")));

  private TypeFuzz() {}

  /** By the name that Jazzer calls. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    try {
      JsonObject body = RequestBody.of(bytes).object();
      JsonObject patched = body.appliedTo(Map.of("prefix", "ch", "key", "bigint"));
      var _ = BODIES.definition("charge", patched);
      var _ = BODIES.definition("charge", body);
    } catch (Refusal | JsonFault refused) {
      String _ = refused.getMessage();
    }
  }

  /** Writes texts to begin with into the folder of the argument. */
  public static void main(String[] arguments) throws IOException {
    FuzzTexts.write(
        arguments[0],
        "{\"prefix\":\"ch\",\"key\":\"bigint\"}",
        "{\"redirect\":{\"template\":\"https://a.example/{id}?k={key}\",\"status\":302}}",
        "{\"legacy\":{\"sunset_at\":\"2099-01-01T00:00:00Z\",\"status\":308}}",
        "{\"url_templates\":[\"/charges/{legacy:charge}/{*}\"]}",
        "{\"public_pattern\":{\"text_prefix\":\"a_\",\"alphabet\":\"0-9a-f\",\"min_length\":4,\"max_length\":9}}",
        "{\"public_rule\":{\"scheme\":\"hashids\",\"salt\":\"s\",\"min_length\":8}}",
        "{\"public_rule\":{\"scheme\":\"sqids\",\"alphabet\":\"abc\"}}",
        "{\"dead_link\":{\"en\":{\"title\":\"t\",\"text\":\"x\"}},\"fallback_url\":\"https://a.example/\"}",
        "{\"layout\":\"41/5+5/12@1288834974657\",\"generate\":\"snowflake\",\"on_outage\":\"refuse\"}",
        "{\"key\":\"uuid\",\"generate\":\"uuidv7\",\"client_names\":\"shared\",\"tag\":null}");
  }
}
