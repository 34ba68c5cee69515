package dev.coatcheck.ids.registry;

import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.DSLContext;

/** The transactions that change the eras of sealed types. */
final class EraStore {
  private final Database database;
  private final TypeStore types;
  private final SealKeys sealKeys;

  EraStore(Database database, TypeStore types, SealKeys sealKeys) {
    this.database = database;
    this.types = types;
    this.sealKeys = sealKeys;
  }

  /**
   * Begins an era of a sealed type.
   *
   * @param startsAt empty for as early as possible
   * @return empty if there is no such type
   */
  Optional<PutOutcome> add(String name, Optional<Instant> startsAt, String sealKey, Actor actor) {
    return database.write(
        "era",
        sql -> {
          TypeStore.lock(sql);
          return TypeStore.named(types.all(sql), name)
              .map(
                  type -> {
                    Instant now = TypeStore.now(sql);
                    Instant start = startsAt.orElseGet(() -> SealRules.earliest(type, now));
                    return SealRules.eraRefusal(type, start, sealKey, now, sealKeys)
                        .orElseGet(() -> began(sql, type, start, sealKey, actor));
                  });
        });
  }

  private PutOutcome began(
      DSLContext sql, Type type, Instant startsAt, String sealKey, Actor actor) {
    EraTable.insert(sql, type.number(), startsAt, sealKey);
    return changed(
        sql,
        type,
        actor,
        "type.era",
        Map.of("starts_at", startsAt.toString(), "seal_key", sealKey));
  }

  /**
   * Closes an era of a sealed type; one that is closed stays as it is.
   *
   * @return empty if there is no such type
   */
  Optional<PutOutcome> close(String name, String sealKey, Actor actor) {
    return database.write(
        "era close",
        sql -> {
          TypeStore.lock(sql);
          return TypeStore.named(types.all(sql), name)
              .map(type -> closed(sql, type, sealKey, actor));
        });
  }

  private PutOutcome closed(DSLContext sql, Type type, String sealKey, Actor actor) {
    Optional<Sealing.Era> era = type.sealing().flatMap(sealing -> sealing.eraWith(sealKey));
    if (era.isEmpty()) {
      return SealRules.eraUnknown();
    }
    if (era.get().isClosed()) {
      return new PutOutcome.Updated(type);
    }
    EraTable.close(sql, type.number(), sealKey);
    return changed(sql, type, actor, "era.pin", Map.of("seal_key", sealKey, "closed", true));
  }

  /** Audits the change and tells all instances, at the end of the transaction. */
  private PutOutcome changed(
      DSLContext sql, Type type, Actor actor, String action, Map<String, ?> detail) {
    TypeStore.change(sql, type, sql.newRecord(TYPE));
    Type updated = types.reread(sql, type.name());
    AuditTable.append(sql, actor, action, type.name(), detail);
    ChangeTable.append(sql, ChangeKind.TYPE, List.of(Integer.toString(type.number())));
    return new PutOutcome.Updated(updated);
  }
}
