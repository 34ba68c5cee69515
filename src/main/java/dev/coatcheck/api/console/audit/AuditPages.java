package dev.coatcheck.api.console.audit;

import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.audit.AuditExport;
import dev.coatcheck.api.routes.audit.AuditRoutes;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.audit.AuditFilter;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.connection.Deadline;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Who changed what, {@code /console/audit}, and all of it as NDJSON. */
public final class AuditPages {
  private static final int ENTRIES_MAX = 50;
  private static final int ABOUT_MAX = 20;
  private static final String AFTER = "after";

  private final Gate gate;
  private final Audit audit;
  private final AuditExport export;

  /** What the pages ask. */
  public record Verbs(Audit audit, AuditExport export) {}

  public AuditPages(Gate gate, Verbs verbs) {
    this.gate = gate;
    this.audit = verbs.audit();
    this.export = verbs.export();
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, AuditFields.PATH, gate.page(this::show));
    endpoints.page(HandlerType.GET, AuditFields.PATH + "/export", gate.page(this::download));
  }

  /**
   * @param next the page of older entries, or an empty text
   * @param mayFind whether this person may look for what the entries are about
   */
  record View(
      Frame frame,
      AuditFields fields,
      List<EntryRow> entries,
      String next,
      boolean mayFind,
      String fault) {
    View {
      entries = List.copyOf(entries);
    }
  }

  private Answer show(Context ctx, Visit visit) {
    require(visit);
    Query query = Query.ofForm(ctx, "subject", "actor", "action", "from", "to", AFTER);
    AuditFields fields = AuditFields.of(query);
    Frame frame = visit.frame(Section.AUDIT, "Audit");
    boolean mayFind = visit.rights().may(Scope.IDS_READ);
    try {
      Audit.Page page =
          audit.page(AuditRoutes.filter(query), AuditRoutes.after(query), ENTRIES_MAX);
      String next = page.hasMore() ? fields.after(page.entries().getLast().number()) : "";
      return page(200, new View(frame, fields, EntryRow.of(page), next, mayFind, ""));
    } catch (Refusal refused) {
      String fault = refused.problem().labelled(AuditPages::label).detail();
      return page(400, new View(frame, fields, List.of(), "", mayFind, fault));
    }
  }

  /** Such as {@code From}, as the form has it. */
  private static String label(String param) {
    return Character.toUpperCase(param.charAt(0)) + param.substring(1);
  }

  private static Answer page(int status, View view) {
    return Html.page(status, (out, none) -> JteauditGenerated.render(out, none, view));
  }

  /** As in the API, with the session in the place of the API key. */
  private Answer download(Context ctx, Visit visit) throws Exception {
    require(visit);
    Query query = Query.ofForm(ctx, "subject", "actor", "action", "from", "to");
    return Deadline.lasting(
        () ->
            export.answer(
                ctx,
                visit.caller().principal(),
                AuditRoutes.filter(query),
                () ->
                    gate.visit(ctx).filter(now -> Section.AUDIT.isFor(now.rights())).isPresent()));
  }

  private static void require(Visit visit) {
    Gate.require(visit, Section.AUDIT.needed());
    RequestCaller.requireAllTypes(visit.types());
  }

  /** The newest entries about a subject; empty for who may not read the audit. */
  public static Optional<Audit.Page> about(String subject, Audit audit, Rights rights) {
    return Section.AUDIT.isFor(rights)
        ? Optional.of(audit.page(AuditFilter.about(subject), OptionalLong.empty(), ABOUT_MAX))
        : Optional.empty();
  }
}
