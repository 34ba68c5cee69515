package dev.coatcheck.api.routes.audit;

import dev.coatcheck.api.body.StreamedAnswer;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.transfers.TransferPermits;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.audit.AuditFilter;
import dev.coatcheck.cluster.audit.RecordedEntry;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** Who changed what: {@code /v1/audit}, and all of it as NDJSON: {@code /v1/audit/export}. */
public final class AuditRoutes implements Routes {
  private static final String EXPORT = "/v1/audit/export";
  private static final int LIMIT_MAX = 100;
  private static final int LIMIT_DEFAULT = 20;

  private static final Pattern TEXT = Pattern.compile("[^\\p{Cntrl}]{1,200}");
  private static final Pattern ACTION = Pattern.compile("[a-z_]{1,40}\\.[a-z_]{1,40}");

  private final Audit audit;
  private final Observer observer;

  public AuditRoutes(Audit audit, Observer observer) {
    this.audit = audit;
    this.observer = observer;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/audit", Scope.AUDIT_READ, this::list);
    endpoints.lasting(
        HandlerType.GET,
        EXPORT,
        Scope.AUDIT_READ,
        new TransferPermits(2, 1, observer)
            .around(
                EXPORT,
                "An instance runs two exports of the audit at a time, and one of one principal.",
                this::export));
  }

  private Answer list(Context ctx) {
    RequestCaller.requireAllTypes(ctx);
    Query query = Query.of(ctx, "subject", "actor", "action", "from", "to", "after", "limit");
    Audit.Page page =
        audit.page(
            filter(query), after(query), query.integer("limit", 1, LIMIT_MAX, LIMIT_DEFAULT));
    return Answer.json(
        200,
        ListView.page(page.entries().stream().map(AuditEntryView::of).toList(), page.hasMore()));
  }

  /**
   * The filter of a query's parameters.
   *
   * @throws Refusal if one is malformed
   */
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

  /**
   * The number of the last entry of the page before; empty for the first page.
   *
   * @throws Refusal if it is malformed
   */
  public static OptionalLong after(Query query) {
    return query
        .text("after")
        .map(
            text ->
                OptionalLong.of(
                    Query.number(text)
                        .orElseThrow(
                            () ->
                                Refusal.ofParameter(
                                    "after", "Send the number of the last entry of a page."))))
        .orElseGet(OptionalLong::empty);
  }

  /**
   * All entries up to the last one that there is now. A portion is in memory at a time, and no
   * connection is held while the client reads it.
   */
  private Answer export(Context ctx) throws IOException {
    RequestCaller.requireAllTypes(ctx);
    AuditFilter filter = filter(Query.of(ctx, "subject", "actor", "action", "from", "to"));
    long last = audit.lastNumber();
    try (StreamedAnswer body =
        new StreamedAnswer(ctx, "audit.ndjson", "application/x-ndjson; charset=utf-8")) {
      if (ctx.method().equals(HandlerType.HEAD)) {
        body.begin();
        return Answer.STREAMED;
      }
      List<RecordedEntry> portion = audit.portion(filter, 0, last);
      try {
        body.begin();
        while (!portion.isEmpty()) {
          body.write(lines(portion));
          portion = audit.portion(filter, portion.getLast().number(), last);
        }
      } catch (IOException gone) {
        cutOff(body, body.isTooSlow() ? "too_slow" : "client_gone");
      } catch (DatabaseUnavailable gone) {
        cutOff(body, "database_gone");
      }
    }
    return Answer.STREAMED;
  }

  private void cutOff(StreamedAnswer body, String reason) {
    observer.observe(new Event.TransferBrokenOff(EXPORT, reason));
    body.abort();
  }

  private static byte[] lines(List<RecordedEntry> entries) throws IOException {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (RecordedEntry entry : entries) {
      lines.write(Json.write(AuditEntryView.of(entry)));
      lines.write('\n');
    }
    return lines.toByteArray();
  }
}
