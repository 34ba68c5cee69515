package dev.coatcheck.test;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.test.FakeIds.Name;
import dev.coatcheck.test.FakeIds.Row;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a fake gateway answers, by method and path. One call at a time. */
final class FakeRoutes {
  /** Calls whose answers are stored under an Idempotency-Key; all others ignore it. */
  private static final Pattern STORED = Pattern.compile("/v1/ids(/batch|/[^/]+/(revoke|merge))?");

  private final FakeIds ids;
  private final Map<String, Stored> stored = new HashMap<>();

  /** The first call with an Idempotency-Key, and its answer. */
  private record Stored(String path, Map<String, @Nullable Object> body, FakeAnswer answer) {}

  FakeRoutes(FakeIds ids) {
    this.ids = ids;
  }

  synchronized void register(Class<?> type, boolean isUuid) {
    ids.register(type, isUuid);
  }

  /**
   * Answers a call.
   *
   * @param idempotencyKey as it was sent
   * @param body the JSON object that was sent, or none
   */
  synchronized FakeAnswer answer(
      String method, URI uri, Optional<String> idempotencyKey, Map<String, @Nullable Object> body) {
    String path = uri.getRawPath();
    if (idempotencyKey.isEmpty() || !method.equals("POST") || !STORED.matcher(path).matches()) {
      return route(method, uri, body);
    }
    Stored first = stored.get(idempotencyKey.get());
    if (first != null) {
      return first.path.equals(path) && first.body.equals(body)
          ? first.answer.replayed()
          : FakeAnswer.problem(
              422, "idempotency_key_reused", "Another request used this Idempotency-Key.");
    }
    FakeAnswer answer = route(method, uri, body);
    if (answer.isKept()) {
      stored.put(idempotencyKey.get(), new Stored(path, body, answer));
    }
    return answer;
  }

  private FakeAnswer route(String method, URI uri, Map<String, @Nullable Object> body) {
    List<String> path = new ArrayList<>();
    for (String segment : uri.getRawPath().substring(1).split("/", -1)) {
      path.add(URLDecoder.decode(segment, StandardCharsets.UTF_8));
    }
    String route = method + " " + String.join("/", path.subList(0, Math.min(2, path.size())));
    return switch (route + " " + path.size()) {
      case "GET v1/types 2" -> types();
      case "POST v1/ids 2" -> mint(body);
      case "GET v1/ids 3" -> resolve(path.get(2));
      case "POST v1/ids 3" -> batch(path.get(2), body);
      case "POST v1/ids 4" -> end(path.get(2), path.get(3), body);
      case "GET v1/legacy 4" -> findLegacy(path.get(2), path.get(3));
      case "POST v1/legacy 3" -> each(body, "legacy_ids", legacy -> findLegacy(body, legacy));
      case "GET v1/types 5" -> find(path.get(2), "key", "", path.get(4));
      case "GET v1/types 6" -> find(path.get(2), path.get(4), namespace(uri), path.get(5));
      case "PUT v1/ids 6" -> changeAlias(this::addAlias, path, namespace(uri));
      case "DELETE v1/ids 6" -> changeAlias(this::removeAlias, path, namespace(uri));
      default -> notHere(method + " " + uri.getPath());
    };
  }

  private static FakeAnswer notHere(String call) {
    return FakeAnswer.problem(501, "not_in_the_fake", "The fake gateway doesn't answer " + call);
  }

  private static String namespace(URI uri) {
    String query = uri.getRawQuery();
    return query == null
        ? ""
        : URLDecoder.decode(query.substring(query.indexOf('=') + 1), StandardCharsets.UTF_8);
  }

  private FakeAnswer types() {
    List<Map<String, Object>> all = new ArrayList<>();
    for (FakeIds.Type type : ids.types()) {
      all.add(
          Map.of(
              "name", type.name(),
              "prefix", type.prefix(),
              "key", type.isUuid() ? "uuid" : "bigint"));
    }
    return list(all);
  }

  private static FakeAnswer list(List<?> data) {
    Map<String, @Nullable Object> list = new LinkedHashMap<>();
    list.put("object", "list");
    list.put("data", data);
    return new FakeAnswer(200, list);
  }

  private FakeAnswer batch(String what, Map<String, @Nullable Object> body) {
    return switch (what) {
      case "batch" -> body.get("count") == null ? each(body, "items", this::mintItem) : many(body);
      case "resolve" -> each(body, "ids", text -> resolve(String.valueOf(text)));
      case "lookup" -> each(body, "keys", key -> find(body, "key", key));
      default -> notHere("POST /v1/ids/" + what);
    };
  }

  private FakeAnswer each(
      Map<String, @Nullable Object> body, String field, Function<Object, FakeAnswer> answer) {
    List<Map<String, @Nullable Object>> entries = new ArrayList<>();
    if (body.get(field) instanceof List<?> items) {
      for (Object item : items) {
        entries.add(answer.apply(item).entry(entries.size()));
      }
    }
    return list(entries);
  }

  private FakeAnswer many(Map<String, @Nullable Object> body) {
    List<Map<String, @Nullable Object>> entries = new ArrayList<>();
    for (int i = 0; i < ((Number) body.getOrDefault("count", 0)).intValue(); i++) {
      entries.add(mint(Map.of("type", String.valueOf(body.get("type")))).entry(i));
    }
    return list(entries);
  }

  @SuppressWarnings("unchecked") // JSON
  private FakeAnswer mintItem(Object item) {
    return mint((Map<String, @Nullable Object>) item);
  }

  private FakeAnswer mint(Map<String, ? extends @Nullable Object> wanted) {
    String typeName = String.valueOf(wanted.get("type"));
    FakeIds.Type type = ids.type(typeName);
    if (type == null) {
      return typeUnknown(typeName);
    }
    String key = text(wanted, "key");
    if (key != null && !isKey(type, key)) {
      return malformed("key");
    }
    List<Name> aliases = new ArrayList<>();
    String legacy = text(wanted, "legacy_id");
    if (legacy != null) {
      if (isMalformed("legacy", legacy)) {
        return malformed("alias");
      }
      aliases.add(new Name(typeName, "legacy", "", legacy));
    }
    String client = text(wanted, "client_id");
    if (client != null) {
      String namespace = text(wanted, "client_namespace");
      aliases.add(new Name(typeName, "client", namespace == null ? "" : namespace, client));
    }
    Row row = key == null ? null : ids.byName(new Name(typeName, "key", "", key));
    for (Name alias : aliases) {
      Row has = ids.byName(alias);
      if (has != null && (row == null ? key != null : row != has)) {
        return aliasConflict();
      }
      row = has == null ? row : has;
    }
    if (row != null && row.endedAt != null) {
      return FakeAnswer.problem(
          409, "id_ended", "The public ID of this key or alias was revoked or merged, for good.");
    }
    int status = row == null ? 201 : 200;
    Row minted = row == null ? ids.mint(type, key) : row;
    for (Name alias : aliases) {
      if (ids.byName(alias) == null) {
        ids.addAlias(minted, alias);
      }
    }
    return new FakeAnswer(status, view(minted, aliases));
  }

  private FakeAnswer resolve(String text) {
    if (PublicId.parse(text) instanceof ParsedId.Malformed malformed) {
      return FakeAnswer.problem(400, "public_id_malformed", "This is not a public ID.")
          .with("reason", malformed.reason().wireName())
          .with("position", malformed.position());
    }
    Row row = ids.byText(text);
    if (row == null) {
      return unknown();
    }
    return row.survivor().isRevoked() ? revoked(row.survivor()) : new FakeAnswer(200, view(row));
  }

  private FakeAnswer find(Map<String, @Nullable Object> body, String scheme, Object value) {
    return find(String.valueOf(body.get("type")), scheme, "", String.valueOf(value));
  }

  private FakeAnswer findLegacy(Map<String, @Nullable Object> body, Object value) {
    return findLegacy(String.valueOf(body.get("type")), String.valueOf(value));
  }

  private FakeAnswer findLegacy(String typeName, String value) {
    return ids.type(typeName) != null && isMalformed("legacy", value)
        ? malformed("legacy_id")
        : find(typeName, "legacy", "", value);
  }

  /** By a key, a public ID that has ended is found, too: with what became of it. */
  private FakeAnswer find(String typeName, String scheme, String namespace, String value) {
    FakeIds.Type type = ids.type(typeName);
    if (type == null) {
      return typeUnknown(typeName);
    }
    if (scheme.equals("key") && !isKey(type, value)) {
      return malformed("key");
    }
    if (isMalformed(scheme, value)) {
      return malformed("alias");
    }
    Name name = new Name(typeName, scheme, namespace, value);
    Row row = ids.byName(name);
    if (row != null && !scheme.equals("key") && row.survivor().isRevoked()) {
      return revoked(row.survivor());
    }
    return row == null
        ? FakeAnswer.problem(
            404,
            switch (scheme) {
              case "key" -> "key_unknown";
              case "legacy" -> "legacy_id_unknown";
              default -> "alias_unknown";
            },
            "No public ID of this type has it.")
        : new FakeAnswer(200, scheme.equals("key") ? mapping(row) : view(row, List.of(name)));
  }

  private FakeAnswer end(String text, String verb, Map<String, @Nullable Object> body) {
    Row row = ids.byText(text);
    if (row == null) {
      return unknown();
    }
    switch (verb) {
      case "revoke" -> {
        if (row.mergedInto != null) {
          return endedBefore();
        }
        row.revoke(text(body, "reason"));
      }
      case "merge" -> {
        Row into = ids.byText(String.valueOf(body.get("into")));
        if (into == null) {
          return unknown();
        }
        if (!into.type.equals(row.type) || into.survivor() == row) {
          return FakeAnswer.problem(409, "merge_refused", "It can't be merged into this one.");
        }
        boolean isAgain = row.mergedInto == into.survivor();
        if (into.survivor().isRevoked() || (row.endedAt != null && !isAgain)) {
          return endedBefore();
        }
        row.merge(into.survivor());
      }
      default -> {
        return notHere("POST /v1/ids/{id}/" + verb);
      }
    }
    return new FakeAnswer(200, view(row));
  }

  private FakeAnswer changeAlias(
      BiFunction<Row, Name, FakeAnswer> change, List<String> path, String namespace) {
    Row row = ids.byText(path.get(2));
    if (row == null) {
      return unknown();
    }
    String scheme = path.get(4);
    String value = path.get(5);
    return isMalformed(scheme, value)
        ? malformed("alias")
        : change.apply(row, new Name(row.type.name(), scheme, namespace, value));
  }

  private FakeAnswer addAlias(Row row, Name alias) {
    Row has = ids.byName(alias);
    if (has != null) {
      return has == row ? new FakeAnswer(200, view(row)) : aliasConflict();
    }
    if (row.endedAt != null) {
      return endedBefore();
    }
    ids.addAlias(row, alias);
    return new FakeAnswer(201, view(row));
  }

  private FakeAnswer removeAlias(Row row, Name alias) {
    if (ids.byName(alias) == row) {
      ids.removeAlias(alias);
    }
    return new FakeAnswer(204, new LinkedHashMap<>());
  }

  private static boolean isKey(FakeIds.Type type, String text) {
    try {
      return type.isUuid()
          ? UUID.fromString(text).toString().equals(text)
          : text.matches("0|[1-9][0-9]*") && Long.parseLong(text) >= 0;
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  /** Legacy IDs begin with 1. Whether another alias is well formed is for a gateway to say. */
  private static boolean isMalformed(String scheme, String value) {
    return scheme.equals("legacy") && !value.matches("[1-9][0-9]*");
  }

  /** What the mapping of a key says: of a merged one its own key, and nothing of an end. */
  private static Map<String, @Nullable Object> mapping(Row row) {
    Map<String, @Nullable Object> view = new LinkedHashMap<>();
    view.put("object", "public_id");
    view.put("id", row.text);
    view.put("type", row.type.name());
    view.put("key", row.key);
    view.put("status", row.endedAt == null ? "active" : row.isRevoked() ? "revoked" : "merged");
    view.put("created_at", row.createdAt.toString());
    return view;
  }

  private static Map<String, @Nullable Object> view(Row row) {
    Map<String, @Nullable Object> view = mapping(row);
    if (row.mergedInto != null) {
      view.put("key", row.survivor().key);
      view.put("merged_into", row.survivor().text);
    }
    if (row.endedAt != null) {
      view.put("ended_at", row.endedAt.toString());
      view.put("ended_reason", row.reason);
    }
    return view;
  }

  /** With the aliases that were sent, as a gateway answers. */
  private static Map<String, @Nullable Object> view(Row row, List<Name> sent) {
    Map<String, @Nullable Object> view = view(row);
    for (Name alias : sent) {
      switch (alias.scheme()) {
        case "legacy" -> view.put("legacy_id", alias.value());
        case "client" -> {
          view.put("client_id", alias.value());
          view.put("client_namespace", alias.namespace().isEmpty() ? null : alias.namespace());
        }
        default -> {} // an older public ID is no part of the answer
      }
    }
    return view;
  }

  private static @Nullable String text(Map<String, ? extends @Nullable Object> body, String field) {
    return text(body.get(field));
  }

  private static @Nullable String text(@Nullable Object value) {
    return value == null ? null : value.toString();
  }

  private static FakeAnswer revoked(Row row) {
    return FakeAnswer.problem(410, "public_id_revoked", "The public ID was ended for good.")
        .with("ended_at", text(row.endedAt))
        .with("ended_reason", row.reason);
  }

  private static FakeAnswer unknown() {
    return FakeAnswer.problem(
        404,
        "public_id_unknown",
        "The public ID is well formed, but this gateway never issued it.");
  }

  private static FakeAnswer typeUnknown(String name) {
    return FakeAnswer.problem(404, "type_unknown", "The fake gateway has no type " + name + ".");
  }

  private static FakeAnswer malformed(String what) {
    return FakeAnswer.problem(400, what + "_malformed", "It is none of this type.");
  }

  private static FakeAnswer aliasConflict() {
    return FakeAnswer.problem(
        409, "alias_conflict", "A public ID with another key already has this alias.");
  }

  private static FakeAnswer endedBefore() {
    return FakeAnswer.problem(
        409, "id_ended", "This public ID is already revoked or merged, for good.");
  }
}
