package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a form for an API key, as texts: what was filled in, or what the key has. They
 * become the body of a request, so that a form is read and refused as the API reads and refuses.
 */
record KeyFields(
    String name,
    String principal,
    Set<String> scopes,
    String types,
    String ranges,
    String requests,
    String seconds,
    String expiresAt) {
  /** Before the name of a scope, in the name of its box. */
  private static final String BOX = "scope ";

  private static final Pattern DAY = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");

  private static final Map<String, String> LABELS =
      Map.of(
          "name", "Name",
          "principal", "Principal",
          "scopes", "Scopes",
          "types", "Types",
          "ranges", "Addresses",
          "limit", "Rate limit",
          "limit.requests", "Requests",
          "limit.seconds", "Seconds",
          "expires_at", "Expires",
          "overlap_seconds", "Overlap");

  KeyFields {
    scopes = Set.copyOf(scopes);
  }

  static KeyFields of(Form form) {
    return new KeyFields(
        form.sent("name"),
        form.sent("principal"),
        Scope.KNOWN.stream()
            .map(Scope::name)
            .filter(scope -> form.isTicked(box(scope)))
            .collect(Collectors.toSet()),
        form.sent("types"),
        form.sent("ranges"),
        form.sent("requests"),
        form.sent("seconds"),
        form.sent("expires_at"));
  }

  static KeyFields of(StoredKey key) {
    Rights rights = key.rights();
    return new KeyFields(
        key.name(),
        key.principal(),
        rights.scopes().stream().map(Scope::name).collect(Collectors.toSet()),
        rights.types().map(names -> joined(names.stream().sorted().toList())).orElse(""),
        joined(KeyRow.ranges(rights)),
        number(rights.limit(), RateLimit::requests),
        number(rights.limit(), RateLimit::seconds),
        rights.expiresAt().map(Instant::toString).orElse(""));
  }

  private static String joined(List<String> texts) {
    return String.join(", ", texts);
  }

  private static String number(Optional<RateLimit> limit, Function<RateLimit, Integer> part) {
    return limit.map(part).map(String::valueOf).orElse("");
  }

  static String box(String scope) {
    return BOX + scope;
  }

  /** The body of a request that creates the key. */
  JsonObject created() {
    Map<String, @Nullable Object> body = rights();
    body.put("scopes", sortedScopes());
    if (!principal.isEmpty()) {
      body.put("principal", principal);
    }
    return object(body).appliedTo(Map.of()); // without the nulls
  }

  /** The merge patch that makes the key have these fields. */
  JsonObject patch(StoredKey key) {
    Map<String, @Nullable Object> body = rights();
    Set<String> known =
        key.rights().scopes().stream()
            .filter(Scope.KNOWN::contains)
            .map(Scope::name)
            .collect(Collectors.toSet());
    if (!scopes.equals(known)) { // a scope that only another version knows stays as it is
      body.put("scopes", sortedScopes());
    }
    return object(body);
  }

  private List<String> sortedScopes() {
    if (scopes.isEmpty()) {
      throw new Refusal(ProblemCode.FIELD_INVALID, "scopes", "Scopes: tick at least one.");
    }
    return scopes.stream().sorted().toList();
  }

  private Map<String, @Nullable Object> rights() {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("name", name);
    body.put("types", listed(types));
    body.put("ranges", listed(ranges));
    body.put("limit", limit());
    body.put("expires_at", time(expiresAt));
    return body;
  }

  private static @Nullable List<String> listed(String text) {
    return text.isEmpty() ? null : Arrays.asList(text.split("[\\s,]+"));
  }

  /** An empty half is null, so that a merge patch removes it instead of leaving what was there. */
  private @Nullable Map<String, @Nullable Object> limit() {
    if (requests.isEmpty() && seconds.isEmpty()) {
      return null;
    }
    Map<String, @Nullable Object> limit = new LinkedHashMap<>();
    limit.put("requests", requests.isEmpty() ? null : Form.numberOr(requests));
    limit.put("seconds", seconds.isEmpty() ? null : Form.numberOr(seconds));
    return limit;
  }

  /** A day means its beginning in UTC. */
  static @Nullable String time(String text) {
    if (text.isEmpty()) {
      return null;
    }
    return DAY.matcher(text).matches() ? text + "T00:00:00Z" : text;
  }

  private static JsonObject object(Map<String, @Nullable Object> body) {
    return RequestBody.of(Json.write(body)).object();
  }

  /** The same with the label of the field, which people know instead of its name. */
  static Refusal labelled(Problem problem) {
    return new Refusal(problem.labelled(param -> LABELS.get(param.replaceFirst("\\[.*", ""))));
  }
}
