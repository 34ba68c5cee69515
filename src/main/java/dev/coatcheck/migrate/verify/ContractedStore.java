package dev.coatcheck.migrate.verify;

import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.verify.RowStore.Row;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.OptionalLong;

/** Reads a table whose legacy IDs are only in the archive, by its current names. */
final class ContractedStore {
  private static final String LAST = "select max(t.<id>)::bigint from <table> t";

  private static final String KEYS =
      "select t.<id>::bigint from <table> t where t.<id> > ? and t.<id> <= ? order by 1 limit ?";

  private static final String PRESENT =
      "select t.<id>::bigint from <table> t where t.<id> = any (?::bigint[]) order by 1";

  /** Only legacy IDs of existing rows. */
  private static final String LEGACY =
      """
      select a.legacy, a.key from <archive> a
       where a.legacy > ? and exists (select from <table> t where t.<id> = a.key)
       order by a.legacy limit ?\
      """;

  /** Waits for a gateway that is relaying one of the entries. */
  private static final String WAITING =
      "select n from <outbox> where key = any (?::bigint[]) for key share";

  private static final String NOT_VALIDATED =
      """
      select k.conname from pg_constraint k
       where k.confrelid = <oid>::oid and k.contype = 'f' and not k.convalidated order by 1\
      """;

  private final Session source;
  private final TargetSql names;

  ContractedStore(Session source, Target target) {
    this.source = source;
    this.names =
        new TargetSql(
            RowStore.read(source, sql -> CatalogTable.contracted(sql, target))
                .orElseThrow(ObjectsGone::contracted));
  }

  /** Empty if the table has no rows. */
  OptionalLong lastKey() {
    return RowStore.read(
        source, sql -> PlainSql.row(sql, names.fill(LAST), row -> PlainSql.optionalLong(row, 1)));
  }

  List<Long> keys(long after, long last, int most) {
    return longs(KEYS, after, last, most);
  }

  List<Long> present(List<Long> keys) {
    return longs(PRESENT, (Object) keys.toArray(Long[]::new));
  }

  /** Legacy IDs in the archive, with the keys of their rows. */
  List<Row> archived(long after, int most) {
    return RowStore.read(
        source,
        sql ->
            PlainSql.rows(
                sql,
                names.fill(LEGACY),
                row -> new Row(row.getLong(1), row.getLong(2), null, null),
                after,
                most));
  }

  /** Whether entries of these keys wait in the outbox. Waits for a relay that delivers them. */
  boolean isWaiting(List<Long> keys) {
    return List.of("<outbox_a>", "<outbox_b>").stream()
        .map(outbox -> WAITING.replace("<outbox>", outbox))
        .anyMatch(query -> !longs(query, (Object) keys.toArray(Long[]::new)).isEmpty());
  }

  List<String> constraintsNotValidated() {
    return RowStore.read(
        source, sql -> PlainSql.rows(sql, names.fill(NOT_VALIDATED), row -> row.getString(1)));
  }

  private List<Long> longs(String query, Object... values) {
    return RowStore.read(
        source, sql -> PlainSql.rows(sql, names.fill(query), row -> row.getLong(1), values));
  }
}
