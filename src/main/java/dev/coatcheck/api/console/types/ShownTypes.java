package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.audit.AuditPages;
import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.routes.types.TypeBody;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.audit.RecordedEntry;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** The list of types, and the page of each. */
final class ShownTypes {
  private static final int HIT_DAYS = 30;

  private final Gate gate;
  private final TypePages.Verbs verbs;

  ShownTypes(Gate gate, TypePages.Verbs verbs) {
    this.gate = gate;
    this.verbs = verbs;
  }

  void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Section.TYPES.path(), gate.page(this::list));
    endpoints.page(HandlerType.GET, ChangePages.pathOf("{name}"), gate.page(this::one));
  }

  /**
   * A type in the list.
   *
   * @param hits look-ups of its legacy IDs in the last 30 days
   */
  record Row(Type type, Optional<Lookup.Count> publicIds, long hits) {
    String keys() {
      return type.keyKind().wireName()
          + (type.needsKeys() ? ", brought by each mint" : ", " + type.generation().wireName());
    }

    /** What is unusual about the type, in words. */
    List<String> policies() {
      List<String> words = new ArrayList<>();
      type.retiredAt().ifPresent(at -> words.add("retired since " + day(at)));
      words.add(type.redirect().map(Row::redirect).orElse("no redirect"));
      type.sealing().ifPresent(sealing -> words.add("sealed since " + day(sealing.from())));
      type.legacy()
          .ifPresent(
              legacy ->
                  words.add(
                      "legacy IDs"
                          + (legacy.isPublic() ? "" : ", private")
                          + legacy.sunsetAt().map(at -> ", sunset " + day(at)).orElse("")));
      if (!type.urlTemplates().isEmpty()) {
        words.add("URL templates: " + type.urlTemplates().size());
      }
      type.olderSystem()
          .ifPresent(older -> words.add("older public IDs by " + older.field().substring(7)));
      return words;
    }

    private static LocalDate day(Instant at) {
      return LocalDate.ofInstant(at, ZoneOffset.UTC);
    }

    private static String redirect(Redirect redirect) {
      return "redirect "
          + redirect.status()
          + (redirect.isPublic() ? "" : ", private")
          + " to "
          + redirect.template();
    }

    String count() {
      if (type.sealing().isPresent()) {
        return "computed";
      }
      return publicIds
          .map(count -> (count.isExact() ? "" : "about ") + Display.number(count.number()))
          .orElse("–");
    }
  }

  /** A group of fields, without those that have no value. */
  record Shown(String title, String absent, List<Value> values) {}

  record Value(String label, List<String> lines) {}

  record TypeView(
      Frame frame,
      Type type,
      Row row,
      List<Shown> groups,
      Optional<Audit.Page> history,
      boolean mayChange) {
    /** What an entry of the audit says was changed, in words. */
    static String change(RecordedEntry recorded) {
      JsonNode detail = Json.MAPPER.readTree(recorded.entry().detail());
      return switch (recorded.entry().action()) {
        case "type.put" -> put(detail);
        case "type.era" -> "began an era from " + detail.path("starts_at").asString();
        case "era.pin" ->
            detail.path("closed").asBoolean(false)
                ? "closed the era of " + detail.path("seal_key").asString()
                : "pinned " + Display.count(detail.path("keys").asInt(), "key", "keys");
        default -> recorded.entry().action(); // such as that of a segment of the same name
      };
    }

    private static String put(JsonNode detail) {
      if (detail.path("created").asBoolean(false)) {
        return "created";
      }
      List<String> fields = new ArrayList<>();
      detail.path("fields").forEach(field -> fields.add(field.asString()));
      return "changed "
          + String.join(", ", fields)
          + (detail.path("links_confirmed").asBoolean(false) ? ", links may end" : "");
    }
  }

  private Answer list(Context ctx, Visit visit) {
    Query.none(ctx);
    Gate.require(visit, Scope.TYPES_READ);
    AllowedTypes allowed = visit.types();
    List<Type> types = verbs.registry().all().stream().filter(allowed::hold).toList();
    Frame frame = visit.frame(Section.TYPES, "Types");
    List<Row> rows = rows(types);
    boolean mayChange = visit.mayChange(Scope.TYPES_WRITE);
    return Html.page(
        200, (out, none) -> JtetypesGenerated.render(out, none, frame, rows, mayChange));
  }

  private List<Row> rows(List<Type> types) {
    Map<Integer, Lookup.Count> counts = verbs.lookup().counts(types);
    LocalDate today = verbs.hits().today();
    Map<Integer, List<LegacyHits.DayCount>> hits =
        verbs.hits().ofAll(today.minusDays(HIT_DAYS - 1), today);
    return types.stream()
        .map(
            type ->
                new Row(
                    type,
                    Optional.ofNullable(counts.get(type.number())),
                    hits.getOrDefault(type.number(), List.of()).stream()
                        .mapToLong(LegacyHits.DayCount::count)
                        .sum()))
        .toList();
  }

  private Answer one(Context ctx, Visit visit) {
    Query.none(ctx);
    Gate.require(visit, Scope.TYPES_READ);
    Type type = verbs.parameters().type(visit.types(), "name", ctx.pathParam("name"));
    Map<String, String> texts = TypeFields.texts(TypeBody.fields(type));
    TypeView view =
        new TypeView(
            visit.frame(Section.TYPES, "Type " + type.name()),
            type,
            rows(List.of(type)).getFirst(),
            TypeFields.GROUPS.stream().map(group -> shown(group, texts)).toList(),
            AuditPages.about(type.name(), verbs.audit(), visit.rights()),
            visit.mayChange(Scope.TYPES_WRITE));
    return Html.page(200, (out, none) -> JtetypeGenerated.render(out, none, view));
  }

  private static Shown shown(TypeFields.Group group, Map<String, String> texts) {
    boolean isAbsent =
        !group.absent().isEmpty()
            && List.of("", "no", "none")
                .contains(texts.getOrDefault(group.fields().getFirst().name(), ""))
            && group.fields().stream()
                .skip(1)
                .allMatch(field -> texts.getOrDefault(field.name(), "").isEmpty());
    return new Shown(
        group.title(),
        group.absent(),
        isAbsent
            ? List.of()
            : group.fields().stream()
                .map(
                    field ->
                        new Value(
                            field.label(),
                            field.shown(texts.getOrDefault(field.name(), "")).lines().toList()))
                .filter(value -> !value.lines().isEmpty())
                .toList());
  }
}
