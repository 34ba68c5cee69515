package dev.coatcheck.api.routes.audit;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.audit.AuditFilter;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** Who changed what: {@code /v1/audit}, and all of it as NDJSON: {@code /v1/audit/export}. */
public final class AuditRoutes implements Routes {

  private static final Pattern TEXT = Pattern.compile("[^\\p{Cntrl}]{1,200}");
  private static final Pattern ACTION = Pattern.compile("[a-z_]{1,40}\\.[a-z_]{1,40}");

  private final Audit audit;
  private final AuditExport export;

  public AuditRoutes(Audit audit, AuditExport export) {
    this.audit = audit;
    this.export = export;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/audit", Scope.AUDIT_READ, this::list);
    endpoints.lasting(HandlerType.GET, "/v1/audit/export", Scope.AUDIT_READ, this::export);
  }

  private Answer list(Context ctx) {
    RequestCaller.requireAllTypes(ctx);
    Query query = Query.of(ctx, "subject", "actor", "action", "from", "to", "after", "limit");
    Audit.Page page = audit.page(filter(query), after(query), query.limit());
    return Answer.json(
        200,
        ListView.page(page.entries().stream().map(AuditEntryView::of).toList(), page.hasMore()));
  }

  /** The entries that a query asks for. */
  public static AuditFilter filter(Query query) {
    return new AuditFilter(
        query.text("subject").map(text -> text("subject", text)),
        query.text("actor").map(text -> text("actor", text)),
        query.text("action").map(AuditRoutes::action),
        query.time("from"),
        query.time("to"));
  }

  private static String text(String name, String text) {
    if (!TEXT.matcher(text).matches()) {
      throw Refusal.ofParameter(name, "Send 1 to 200 characters, without control characters.");
    }
    return text;
  }

  private static String action(String text) {
    if (!ACTION.matcher(text).matches()) {
      throw Refusal.ofParameter(
          "action", "Send an action as an entry names it, for instance type.put.");
    }
    return text;
  }

  /** The number of the entry after which a page begins. */
  public static OptionalLong after(Query query) {
    return query
        .number("after", "Send the number of the last entry of a page.")
        .map(OptionalLong::of)
        .orElseGet(OptionalLong::empty);
  }

  private Answer export(Context ctx) throws Exception {
    RequestCaller.requireAllTypes(ctx);
    AuditFilter filter = filter(Query.of(ctx, "subject", "actor", "action", "from", "to"));
    return export.answer(ctx, RequestCaller.principal(ctx), filter, RequestCaller.of(ctx)::mayGoOn);
  }
}
