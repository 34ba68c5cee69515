package dev.coatcheck.api.routes.audit;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.cluster.audit.RecordedEntry;
import dev.coatcheck.ids.access.ApiKey;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An entry of the audit. A command in the database has no key, address or request. */
@JsonInclude(JsonInclude.Include.NON_NULL)
record AuditEntryView(
    String object,
    long number,
    Instant at,
    String actor,
    @Nullable String keyId,
    @Nullable String address,
    @Nullable String requestId,
    String action,
    List<String> subjects,
    @JsonRawValue String detail) {
  static AuditEntryView of(RecordedEntry recorded) {
    AuditEntry entry = recorded.entry();
    Actor actor = entry.actor();
    return new AuditEntryView(
        "audit_entry",
        recorded.number(),
        recorded.at(),
        actor.name(),
        actor.keyId().map(ApiKey::shown).orElse(null),
        actor.address().orElse(null),
        actor.requestId().orElse(null),
        entry.action(),
        entry.subjects(),
        entry.detail());
  }
}
