package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.audit.AuditPages;
import dev.coatcheck.api.console.audit.EntryRow;
import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.access.AccessRoutes;
import dev.coatcheck.api.routes.access.KeyProblems;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import dev.coatcheck.ids.registry.Registry;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;

/** API keys for people, {@code /console/keys}: all of them, and each with its history. */
public final class KeyPages {
  static final String ALL = Section.KEYS.path();
  static final String ONE = ALL + "/{id}";
  private static final int KEYS_MAX = 50;

  private final Gate gate;
  private final Verbs verbs;

  /** What the pages ask. */
  public record Verbs(ApiKeys keys, Registry registry, Audit audit, RandomSource random) {}

  public KeyPages(Gate gate, Verbs verbs) {
    this.gate = gate;
    this.verbs = verbs;
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, ALL, gate.page(this::list));
    gate.register(endpoints, ALL + "/new", Scope.ACCESS_ADMIN, new KeyForms.Create(verbs));
    endpoints.page(HandlerType.GET, ONE, gate.page(this::one));
    gate.register(endpoints, ONE + "/edit", Scope.ACCESS_ADMIN, new KeyForms.Edit(verbs));
    gate.register(endpoints, ONE + "/rotate", Scope.ACCESS_ADMIN, new KeyEnds.Rotate(verbs));
    gate.register(endpoints, ONE + "/revoke", Scope.ACCESS_ADMIN, new KeyEnds.Revoke(verbs));
  }

  /**
   * @param status as its box names it; empty for all
   */
  record Filters(String principal, String status) {
    /** The page after a key. */
    String after(String id) {
      return ALL + query("after=" + id);
    }

    String curl() {
      return Display.curl("GET", "/v1/access/keys" + query(""), "");
    }

    String command() {
      return "coatcheck access list"
          + (principal.isEmpty() ? "" : " --principal " + Display.shellWord(principal))
          + (status.isEmpty() ? "" : " --status " + Display.shellWord(status));
    }

    private String query(String after) {
      String query =
          (principal.isEmpty() ? "" : "&principal=" + Paths.encoded(principal))
              + (status.isEmpty() ? "" : "&status=" + Paths.encoded(status))
              + (after.isEmpty() ? "" : "&" + after);
      return query.isEmpty() ? "" : "?" + query.substring(1);
    }
  }

  /**
   * @param next the page of younger keys, or an empty text
   * @param own the ID of this person's key
   */
  record ListView(
      Frame frame,
      Filters filters,
      List<KeyRow> keys,
      String next,
      String own,
      boolean mayChange,
      String fault) {
    ListView {
      keys = List.copyOf(keys);
    }
  }

  private Answer list(Context ctx, Visit visit) {
    Gate.require(visit, Scope.ACCESS_ADMIN);
    Query query = Query.ofForm(ctx, "principal", "status", "after");
    Filters filters =
        new Filters(query.text("principal").orElse(""), query.text("status").orElse(""));
    List<ApiKeys.Listed> found;
    try {
      found = verbs.keys().list(AccessRoutes.filter(query, visit.rights(), verbs.keys(), KEYS_MAX));
    } catch (Refusal refused) {
      return list(400, visit, filters, List.of(), refused.problem().detail());
    }
    return list(200, visit, filters, found, "");
  }

  private Answer list(
      int status, Visit visit, Filters filters, List<ApiKeys.Listed> found, String fault) {
    List<KeyRow> keys = found.stream().limit(KEYS_MAX).map(KeyRow::of).toList();
    ListView view =
        new ListView(
            visit.frame(Section.KEYS, "API keys"),
            filters,
            keys,
            found.size() > KEYS_MAX ? filters.after(keys.getLast().id()) : "",
            ApiKey.shown(visit.caller().keyId()),
            visit.mayChange(Scope.ACCESS_ADMIN),
            fault);
    return Html.page(status, (out, none) -> JtekeysGenerated.render(out, none, view));
  }

  /**
   * What the page of a key shows.
   *
   * @param history empty if this person may not read the audit
   */
  record View(
      Frame frame,
      KeyRow key,
      Optional<List<EntryRow>> history,
      boolean hasOlder,
      boolean isOwn,
      boolean mayChange) {}

  private Answer one(Context ctx, Visit visit) {
    Query.none(ctx);
    Gate.require(visit, Scope.ACCESS_ADMIN);
    KeyRow key = KeyRow.of(key(ctx, visit, verbs.keys()));
    Optional<Audit.Page> history = AuditPages.about(key.id(), verbs.audit(), visit.rights());
    View view =
        new View(
            visit.frame(Section.KEYS, key.key().name()),
            key,
            history.map(EntryRow::of),
            history.map(Audit.Page::hasMore).orElse(false),
            isOwn(key.key(), visit),
            visit.mayChange(Scope.ACCESS_ADMIN));
    return Html.page(200, (out, none) -> JtekeyGenerated.render(out, none, view));
  }

  static boolean isOwn(StoredKey key, Visit visit) {
    return key.keyId().equals(visit.caller().keyId());
  }

  /** The key in the path, if this person may see it. */
  static ApiKeys.Listed key(Context ctx, Visit visit, ApiKeys keys) {
    String id = ctx.pathParam("id");
    KeyProblems.requireAllowed(id, keys, visit.types());
    return ApiKey.idOf(id)
        .flatMap(keys::find)
        .orElseThrow(() -> new Refusal(KeyProblems.unknown()));
  }
}
