package dev.coatcheck.api.routes.audit;

import dev.coatcheck.api.body.SharedPermits;
import dev.coatcheck.api.body.StreamedAnswer;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.audit.AuditFilter;
import dev.coatcheck.cluster.audit.RecordedEntry;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * All entries of the audit as NDJSON, for programs and for people. Both share the permits: an
 * instance runs two exports at a time, and one of one principal.
 */
public final class AuditExport {
  private final Audit audit;
  private final Observer observer;
  private final SharedPermits permits;

  public AuditExport(Audit audit, Observer observer) {
    this.audit = audit;
    this.observer = observer;
    this.permits =
        new SharedPermits(
            2,
            1,
            "An instance runs two exports of the audit at a time, and one of one principal.",
            observer);
  }

  /**
   * Answers with all entries up to the last one that there is now. A portion is in memory at a
   * time, and no connection is held while the client reads it.
   *
   * @param mayRead whether the client still has access; within a second or two of its end the
   *     answer is broken off
   * @throws dev.coatcheck.api.exchange.Refusal without a permit
   */
  public Answer answer(Context ctx, String principal, AuditFilter filter, BooleanSupplier mayRead)
      throws Exception {
    return permits.answer(ctx, principal, () -> stream(ctx, filter, mayRead));
  }

  private Answer stream(Context ctx, AuditFilter filter, BooleanSupplier mayRead)
      throws IOException {
    long last = audit.lastNumber();
    try (StreamedAnswer body =
        new StreamedAnswer(ctx, "audit.ndjson", "application/x-ndjson; charset=utf-8", mayRead)) {
      if (ctx.method().equals(HandlerType.HEAD)) {
        body.begin();
        body.done();
        return Answer.STREAMED;
      }
      List<RecordedEntry> portion = audit.portion(filter, 0, last);
      try {
        body.begin();
        while (!portion.isEmpty()) {
          body.write(lines(portion));
          portion = audit.portion(filter, portion.getLast().number(), last);
        }
        body.done();
      } catch (IOException gone) {
        brokenOff(ctx, body.brokenOffBy());
      } catch (DatabaseUnavailable gone) {
        brokenOff(ctx, "database_gone");
      }
    }
    return Answer.STREAMED;
  }

  private void brokenOff(Context ctx, String reason) {
    observer.observe(new Event.TransferBrokenOff(ctx.endpoint().path, reason));
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
