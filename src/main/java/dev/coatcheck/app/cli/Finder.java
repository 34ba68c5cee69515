package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.Reply;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Asks the gateway what a text is: first as a public ID, then as a key and as an alias of each
 * type.
 */
final class Finder {
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,19}");
  private static final Pattern UUID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  private static final List<String> FIELDS = List.of("type", "id", "key", "status", "created_at");
  private static final List<String> END = List.of("merged_into", "ended_at", "ended_reason");

  private final GatewayCalls gateway;
  private final String text;
  private final @Nullable String namespace;
  private final List<JsonNode> findings = new ArrayList<>();

  Finder(GatewayCalls gateway, String text, @Nullable String namespace) {
    this.gateway = gateway;
    this.text = text;
    this.namespace = namespace;
  }

  /** An object for each thing that the text is; without any, the formats that it can have. */
  List<JsonNode> findings() throws CommandFailed {
    JsonNode candidates =
        gateway.get("/v1/inspect/" + GatewayCalls.segment(text)).path("candidates");
    publicId(candidates);
    for (JsonNode type : gateway.get("/v1/types").path("data")) {
      ofType(type);
    }
    if (findings.isEmpty()) {
      for (JsonNode candidate : candidates) {
        Map<String, @Nullable Object> foreign = new LinkedHashMap<>();
        foreign.put("what", "foreign_id");
        candidate.forEachEntry(foreign::put);
        findings.add(Output.object(foreign));
      }
    }
    return findings;
  }

  private void publicId(JsonNode candidates) throws CommandFailed {
    Optional<String> ours =
        candidates
            .valueStream()
            .filter(one -> one.path("format").asString().equals("public_id"))
            .map(one -> one.path("type").asString(""))
            .findFirst();
    add(ours.isPresent() ? "public_id" : "older_public_id", ours.orElse(""), text, resolved(text));
  }

  private void ofType(JsonNode type) throws CommandFailed {
    String name = type.path("name").asString();
    boolean isNumber = NUMBER.matcher(text).matches();
    boolean isUuid = UUID.matcher(text).matches();
    if (type.path("key").asString().equals("uuid") ? isUuid : isNumber) {
      add("key", name, "", ask(name, "keys"));
    }
    if (isNumber) {
      add("legacy_id", name, "", ask(name, "aliases/legacy"));
    }
    if (isUuid) {
      add("client_id", name, "", ask(name, "aliases/client"));
    }
  }

  private Reply ask(String type, String what) throws CommandFailed {
    String path =
        "/v1/types/%s/%s/%s"
            .formatted(GatewayCalls.segment(type), what, GatewayCalls.segment(text));
    boolean isClient = what.equals("aliases/client");
    return gateway.ask(GatewayCalls.path(path, "client_namespace", isClient ? namespace : null));
  }

  private Reply resolved(String id) throws CommandFailed {
    return gateway.ask("/v1/ids/" + GatewayCalls.segment(id));
  }

  /**
   * Adds a finding, unless the answer is that there is none.
   *
   * @param type of a public ID that was revoked or erased, whose answer has no type
   * @param id that was asked for, or an empty text
   */
  private void add(String what, String type, String id, Reply reply) throws CommandFailed {
    boolean isGone = reply.status() == 410;
    if (!reply.isSuccess() && !isGone) {
      return;
    }
    Map<String, @Nullable Object> finding = new LinkedHashMap<>();
    finding.put("what", what);
    JsonNode body = reply.body();
    if (isGone) {
      put(finding, "type", type);
      put(finding, "id", id);
      boolean isErased = body.path("code").asString("").equals("public_id_erased");
      finding.put("status", isErased ? "erased" : "revoked");
    } else {
      body = body.has("public_id") ? body.path("public_id") : body;
      copy(FIELDS, body, finding);
    }
    copy(END, body, finding);
    String found = String.valueOf(finding.getOrDefault("id", ""));
    if (!"active".equals(finding.get("status")) && !finding.containsKey("ended_at")) {
      // A key is looked up without asking for its end.
      copy(END, resolved(found).body(), finding);
    }
    if (!found.isEmpty()) {
      gateway
          .location("/r/" + GatewayCalls.segment(found))
          .ifPresent(link -> finding.put("link", link));
      aliases(found).ifPresent(aliases -> finding.put("aliases", aliases));
    }
    findings.add(Output.object(finding));
  }

  private static void copy(List<String> fields, JsonNode from, Map<String, @Nullable Object> to) {
    for (String field : fields) {
      if (from.path(field).isString()) {
        to.put(field, from.path(field).asString());
      }
    }
  }

  private static void put(Map<String, @Nullable Object> finding, String field, String value) {
    if (!value.isEmpty()) {
      finding.put(field, value);
    }
  }

  /** Such as {@code legacy:4711} and {@code client:0b0f…@channel-42}. */
  private Optional<List<String>> aliases(String id) throws CommandFailed {
    Reply reply = gateway.ask("/v1/ids/" + GatewayCalls.segment(id) + "/aliases");
    return reply.isSuccess()
        ? Optional.of(
            reply
                .body()
                .path("data")
                .valueStream()
                .map(
                    alias ->
                        alias.path("scheme").asString()
                            + ":"
                            + alias.path("value").asString()
                            + (alias.has("client_namespace")
                                ? "@" + alias.path("client_namespace").asString()
                                : ""))
                .toList())
        : Optional.empty();
  }
}
