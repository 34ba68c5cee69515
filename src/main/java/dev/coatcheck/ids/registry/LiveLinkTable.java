package dev.coatcheck.ids.registry;

import static dev.coatcheck.postgres.sql.schema.Tables.LEGACY_HIT;
import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID_UUID;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/** What a change of a type would end, as far as its rows tell. */
final class LiveLinkTable {
  /** What counting public IDs under the lock of all types may read. */
  private static final int COUNTED_MAX = 10_000;

  private static final int HIT_DAYS = 30;

  private LiveLinkTable() {}

  /** The links that the change would end; none if the type has no public ID that has a target. */
  static Optional<PutOutcome> dying(
      DSLContext sql, List<Type> all, Type present, Policies next, Instant now) {
    Set<LegacyUrlTemplate> elsewhere =
        all.stream()
            .filter(type -> type.number() != present.number())
            .flatMap(type -> type.urlTemplates().stream())
            .collect(Collectors.toSet());
    List<DyingLinks> dying = DyingLinks.between(present.policies(), next, elsewhere, now);
    if (dying.isEmpty()) {
      return Optional.empty();
    }
    LiveIds live = liveIds(sql, present);
    boolean isAll = live.isAll() && !isSealedBy(now, present);
    return live.count() == 0 && isAll && !isFilling(sql, present)
        ? Optional.empty()
        : Optional.of(
            new PutOutcome.LinksWouldDie(
                dying, legacyHits(sql, present, now), live.count(), isAll));
  }

  private record LiveIds(int count, boolean isAll) {}

  /** Whether it may have public IDs without a row, which nobody can count. */
  private static boolean isSealedBy(Instant now, Type type) {
    return type.sealing().filter(sealing -> !sealing.from().isAfter(now)).isPresent();
  }

  /** Counts among the newest public IDs: among millions it would take seconds, with the lock. */
  private static LiveIds liveIds(DSLContext sql, Type type) {
    return sql.resultQuery(
            """
            select least(count(*) filter (where status = 0), {3}), count(*) <= {3}
              from (select status from {0} where type_id = {1}
                     order by type_id desc, key desc limit {2}) as newest
            """,
            type.keyKind() == KeyKind.BIGINT ? PUBLIC_ID : PUBLIC_ID_UUID,
            val(type.number()),
            val(COUNTED_MAX + 1),
            val(COUNTED_MAX))
        .coerce(field("count", Integer.class), field("is_all", Boolean.class))
        .fetchSingle(row -> new LiveIds(row.value1(), row.value2()));
  }

  /** Whether legacy IDs have public IDs that are minted when they are asked for. */
  static boolean isFilling(DSLContext sql, Type type) {
    return sql.fetchExists(
        TABLE_MIGRATION,
        TABLE_MIGRATION.TYPE_ID.eq(type.number()).and(TABLE_MIGRATION.OCCUPIES.isTrue()));
  }

  private static long legacyHits(DSLContext sql, Type type, Instant now) {
    LocalDate today = LocalDate.ofInstant(now, ZoneOffset.UTC);
    return sql.select(coalesce(sum(LEGACY_HIT.COUNT), BigDecimal.ZERO))
        .from(LEGACY_HIT)
        .where(
            LEGACY_HIT.TYPE_ID.eq(type.number()).and(LEGACY_HIT.DAY.gt(today.minusDays(HIT_DAYS))))
        .fetchSingle(row -> row.value1().longValueExact());
  }
}
