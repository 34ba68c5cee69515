package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.name.WireNamed;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A type as a test registers it, over HTTP or in the registry: bigint keys, Snowflakes unless a
 * mint brings one, and no policy, unless the test says more. Immutable.
 *
 * @param fields of the request that puts it
 */
public record TestType(String name, Map<String, @Nullable Object> fields) {
  private static final JsonMapper JSON = new JsonMapper();

  public static TestType of(String name, String prefix) {
    return new TestType(name, Map.of("prefix", prefix, "key", "bigint"));
  }

  public TestType uuids() {
    return with("key", "uuid");
  }

  public TestType redirect(String template) {
    return with("redirect", Map.of("template", template));
  }

  /** A {@code public_pattern}. */
  public static Map<String, Object> pattern(
      String textPrefix, String alphabet, int minLength, int maxLength) {
    return Map.of(
        "text_prefix", textPrefix,
        "alphabet", alphabet,
        "min_length", minLength,
        "max_length", maxLength);
  }

  /** The same type with a field as the contract has it: text, a number, a map, a list or null. */
  public TestType with(String field, @Nullable Object value) {
    Map<String, @Nullable Object> more = new LinkedHashMap<>(fields);
    more.put(field, value);
    return new TestType(name, more);
  }

  /** The same type with the fields of a JSON object. */
  public TestType and(String json) {
    Map<String, @Nullable Object> more = new LinkedHashMap<>(fields);
    JSON.readTree(json).forEachEntry(more::put);
    return new TestType(name, more);
  }

  /** The body of the request that puts it. */
  public String body() {
    return JSON.writeValueAsString(fields);
  }

  /** The same for the registry. */
  public TypeDefinition definition() {
    KeyKind kind = WireNamed.find(KeyKind.class, String.valueOf(fields.get("key"))).orElseThrow();
    JsonObject json = JsonObject.of(JSON.readTree(body()));
    return new TypeDefinition(
        name,
        new Prefix(String.valueOf(fields.get("prefix"))),
        kind,
        KeyGeneration.usual(kind),
        Policies.read(json, name, kind, RedirectHosts.any()),
        Optional.empty(),
        Optional.empty(),
        Boolean.TRUE.equals(fields.get("retired")));
  }

  /** The same as the registry has it, with any generation of its keys. */
  public Type registered(KeyGeneration generation) {
    TypeDefinition definition = definition();
    return new Type(
        1,
        name,
        definition.prefix(),
        definition.keyKind(),
        generation,
        new Salt(new byte[Salt.BYTES]),
        definition.policies(),
        ClientNames.DEFAULT,
        Optional.empty(),
        Optional.empty(),
        Instant.EPOCH,
        Instant.EPOCH,
        1);
  }
}
