package dev.coatcheck.api.routes.access;

import dev.coatcheck.cluster.lease.ClientLeases;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.AddressRange;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.NewKey;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rights of an API key from a request. A list that is missing or null means everything;
 * an empty list is refused, because some would read it as everything, and others as nothing.
 */
public final class KeyBody {
  private static final int TYPES_MAX = 100;
  private static final int RANGES_MAX = 100;
  private static final String[] PATCHED = {
    "name", "scopes", "types", "ranges", "limit", "lease_max", "expires_at"
  };

  private KeyBody() {}

  public static NewKey created(JsonObject body) {
    body.allow(
        "name", "principal", "scopes", "types", "ranges", "limit", "lease_max", "expires_at");
    Optional<String> principal = body.nullableString("principal");
    if (!principal.map(NewKey::isName).orElse(true)) {
      throw notAName(body, "principal");
    }
    return new NewKey(name(body), principal, rights(body, scopes(body)));
  }

  /** What a JSON merge patch leaves of a key. */
  public static ApiKeys.Patch patched(JsonObject patch, StoredKey key) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("name", key.name());
    fields.putAll(key.rights().json());
    JsonObject body = patch.allow(PATCHED).appliedTo(fields);
    // A scope that only another version knows stays as it is.
    Set<Scope> scopes = patch.has("scopes") ? scopes(body) : key.rights().scopes();
    return new ApiKeys.Patch(name(body), rights(body, scopes));
  }

  public static ApiKeys.Rotation rotation(JsonObject body) {
    body.allow("overlap_seconds", "expires_at");
    int overlapSecondsMax = (int) ApiKeys.Rotation.OVERLAP_MAX.toSeconds();
    return new ApiKeys.Rotation(
        Duration.ofSeconds(body.integer("overlap_seconds", 0, overlapSecondsMax)),
        body.nullableTime("expires_at"));
  }

  private static String name(JsonObject body) {
    String name = body.string("name");
    if (!NewKey.isName(name)) {
      throw notAName(body, "name");
    }
    return name;
  }

  private static JsonFault notAName(JsonObject body, String field) {
    return body.invalid(field, "Send 1 to " + NewKey.NAME_LENGTH_MAX + " characters.");
  }

  private static Rights rights(JsonObject body, Set<Scope> scopes) {
    return new Rights(
        scopes,
        body.nullableStrings("types", TYPES_MAX).map(Set::copyOf),
        body.nullableStrings("ranges", RANGES_MAX)
            .map(
                texts ->
                    each(
                        body,
                        "ranges",
                        texts,
                        AddressRange::parseNetwork,
                        "Send an address, or a network in CIDR notation without bits behind the"
                            + " network: 10.0.0.0/8, 2001:db8::/32.")),
        body.optionalObject("limit").map(KeyBody::limit),
        body.nullableInteger("lease_max", 0, ClientLeases.LEASES_MAX),
        body.nullableTime("expires_at"));
  }

  private static Set<Scope> scopes(JsonObject body) {
    return each(
        body,
        "scopes",
        body.strings("scopes", Scope.KNOWN.size()),
        Scope::named,
        "The scopes are %s."
            .formatted(Scope.KNOWN.stream().map(Scope::name).collect(Collectors.joining(", "))));
  }

  private static RateLimit limit(JsonObject limit) {
    limit.allow("requests", "seconds");
    return new RateLimit(
        limit.integer("requests", 1, RateLimit.REQUESTS_MAX),
        limit.integer("seconds", 1, RateLimit.SECONDS_MAX));
  }

  private static <T> Set<T> each(
      JsonObject body,
      String field,
      List<String> texts,
      Function<String, Optional<T>> parse,
      String detail) {
    List<T> parsed = new ArrayList<>();
    for (String text : texts) {
      parsed.add(
          parse
              .apply(text)
              .orElseThrow(() -> body.invalid(field + "[" + parsed.size() + "]", detail)));
    }
    return new LinkedHashSet<>(parsed);
  }
}
