package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How the types of a gateway differ from those of a file.
 *
 * @param changes a put each, in the order of the file
 * @param unmanaged names of types that the file does not have; they are left alone
 */
record TypesPlan(List<Change> changes, List<String> unmanaged, int unchanged) {
  private static final Set<String> HIDDEN = Set.of(SaltReference.FIELD);

  /** What a type has for good. */
  private static final Set<String> FIXED = Set.of("prefix", "key", "generate", "layout", "tag");

  /**
   * A put that is due.
   *
   * @param version of the type that it is due for; empty if there is no such type
   */
  record Change(TypesFile.Declared declared, Optional<Integer> version, TypeDiff diff) {
    String name() {
      return declared.name();
    }

    /** Of the type. */
    String path() {
      return "/v1/types/" + GatewayCalls.segment(name());
    }

    /** For If-Match; empty if the type must not be there yet. */
    Optional<String> etag() {
      return version.map(number -> "\"" + number + "\"");
    }

    private boolean isNew() {
      return version.isEmpty();
    }

    /** The fields that keep the gateway from making the change. */
    private List<String> fixed() {
      return diff.fields().stream()
          .map(TypeDiff.Field::name)
          .filter(field -> !isNew() && FIXED.contains(field))
          .toList();
    }
  }

  TypesPlan {
    changes = List.copyOf(changes);
    unmanaged = List.copyOf(unmanaged);
  }

  /** Asks the gateway for all types, and changes nothing. */
  static TypesPlan of(TypesFile file, GatewayCalls gateway) throws CommandFailed {
    Map<String, JsonNode> there = new LinkedHashMap<>();
    for (JsonNode type : gateway.get("/v1/types").path("data")) {
      there.put(type.path("name").asString(), type);
    }
    List<Change> changes = new ArrayList<>();
    for (TypesFile.Declared declared : file.types()) {
      Optional<JsonNode> type = Optional.ofNullable(there.remove(declared.name()));
      TypeDiff diff =
          TypeDiff.of(type, TypeDiff.whole(declared.name(), type, declared.body()), HIDDEN);
      if (type.isEmpty() || !diff.isEmpty()) {
        changes.add(new Change(declared, type.map(old -> old.path("version").asInt()), diff));
      }
    }
    return new TypesPlan(
        changes, List.copyOf(there.keySet()), file.types().size() - changes.size());
  }

  /**
   * What the gateway says now of making the changes. It changes nothing.
   *
   * @param byType those that it would refuse
   * @param wereAsked whether the API key may ask
   */
  record Refusals(Map<String, Reply> byType, boolean wereAsked) {
    private static final int FORBIDDEN = 403;

    Refusals {
      byType = Map.copyOf(byType);
    }

    static Refusals of(TypesPlan plan, GatewayCalls gateway) throws CommandFailed {
      Map<String, Reply> refused = new HashMap<>();
      for (Change change : plan.changes) {
        Reply reply =
            gateway.putIf(change.path() + "?dry_run=true", change.declared().body(), change.etag());
        if (reply.status() == FORBIDDEN) {
          return new Refusals(Map.of(), false);
        }
        if (!reply.isSuccess() && change.fixed().isEmpty()) {
          refused.put(change.name(), reply);
        }
      }
      return new Refusals(refused, true);
    }

    private Optional<Reply> of(Change change) {
      return Optional.ofNullable(byType.get(change.name()));
    }
  }

  void print(Output output, Refusals refusals) throws CommandFailed {
    for (Change change : changes) {
      Optional<Reply> refusal = refusals.of(change);
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      json.put("type", change.name());
      json.put("action", change.isNew() ? "create" : "change");
      json.put("version", change.version().orElse(null));
      json.put("fixed", change.fixed());
      json.put("refusal", refusal.map(Reply::body).orElse(null));
      json.put("fields", change.diff().fields().stream().map(TypeDiff.Field::json).toList());
      output.print(
          json,
          out -> {
            out.println(change.name() + (change.isNew() ? ": new" : ": differs"));
            change.diff().fields().forEach(field -> field.print(out, "  "));
            change.fixed().forEach(field -> out.println("  ! " + field + " can't be changed"));
            refusal.ifPresent(
                reply -> out.println("  ! would be refused now: " + reply.failure().getMessage()));
          });
    }
    printUnmanaged(output);
    if (!refusals.wereAsked()) {
      output.print(
          Map.of("refusals_asked", false),
          "The API key may not change these types, so the gateway was not asked what it would"
              + " refuse.");
    }
    output.print(
        Map.of(
            "to_create", count(true),
            "to_change", count(false),
            "unchanged", unchanged,
            "not_in_file", unmanaged.size()),
        "%d to create, %d to change, %d unchanged, %d not in the file."
            .formatted(count(true), count(false), unchanged, unmanaged.size()));
  }

  void printUnmanaged(Output output) throws CommandFailed {
    for (String name : unmanaged) {
      output.print(
          Map.of("type", name, "action", "none", "in_file", false),
          name + ": not in the file, left alone");
    }
  }

  private long count(boolean areNew) {
    return changes.stream().filter(change -> change.isNew() == areNew).count();
  }
}
