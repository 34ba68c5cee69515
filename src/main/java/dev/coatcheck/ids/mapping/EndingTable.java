package dev.coatcheck.ids.mapping;

import static dev.coatcheck.postgres.sql.schema.Tables.ENDING;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.ShardedSql;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jspecify.annotations.Nullable;

/** Reads and writes endings within transactions. */
public final class EndingTable {
  private static final List<Field<?>> COLUMNS =
      List.of(ENDING.TYPE_ID, ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR);

  private static final ShardedSql SET_STATUS =
      ShardedSql.of(
          """
          update {table} as row set status = ended.status
            from unnest(?, ?, ?) as ended (bucket, token, status)
           where row.bucket = ended.bucket and row.token = ended.token and {shard}
          """,
          "row.bucket");

  private EndingTable() {}

  /** The endings found, and the time of the transaction. */
  public record Known(Instant now, List<StoredEnding> endings) {}

  /**
   * Reads the endings of public IDs, and bounds the waits of the transaction.
   *
   * @param lockMillisMax for every wait that follows
   */
  public static Known look(DSLContext sql, Collection<TypedToken> wanted, int lockMillisMax) {
    List<TypedToken> ids = List.copyOf(wanted);
    Field<Instant> now = field("now", ENDING.ENDED_AT.getDataType());
    var rows =
        sql.resultQuery(
                """
                select ending.type_id, ending.token, ending.ended_at, ending.reason,
                       ending.survivor, this.now, this.lock_timeout
                  from (select now(), set_config('lock_timeout', {1}, true))
                         as this (now, lock_timeout)
                  left join {0} as ending
                    on (ending.type_id, ending.token) in (select * from unnest({2}, {3}))
                """,
                ENDING,
                val(lockMillisMax + "ms"),
                Unnest.integers(ids, TypedToken::typeNumber),
                Unnest.uuids(ids, id -> id.token().toUuid()))
            .coerce(
                ENDING.TYPE_ID, ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR, now)
            .fetch();
    return new Known(
        rows.getFirst().value6(),
        rows.stream().filter(row -> row.value2() != null).map(EndingTable::ending).toList());
  }

  /** The endings of public IDs and of what these were merged into, in one snapshot. */
  static List<StoredEnding> withSurvivors(DSLContext sql, List<TypedToken> ids) {
    return sql.resultQuery(
            """
            with named as (
              select ending.* from unnest({1}, {2}) as wanted (type_id, token)
                join {0} as ending using (type_id, token))
            select type_id, token, ended_at, reason, survivor from named
            union
            select ending.type_id, ending.token, ending.ended_at, ending.reason, ending.survivor
              from {0} as ending
              join named on (ending.type_id, ending.token) = (named.type_id, named.survivor)
            """,
            ENDING,
            Unnest.integers(ids, TypedToken::typeNumber),
            Unnest.uuids(ids, id -> id.token().toUuid()))
        .coerce(COLUMNS)
        .fetch(EndingTable::ending);
  }

  /** Public IDs that were merged into one, the latest first. */
  static List<StoredEnding> mergedInto(DSLContext sql, TypedToken survivor, int rowsMax) {
    return sql.select(COLUMNS)
        .from(ENDING)
        .where(
            ENDING.TYPE_ID.eq(survivor.typeNumber()), ENDING.SURVIVOR.eq(survivor.token().toUuid()))
        .orderBy(ENDING.ENDED_AT.desc(), ENDING.TOKEN)
        .limit(rowsMax)
        .fetch(EndingTable::ending);
  }

  /**
   * Writes endings, and the status of their rows. IDs merged earlier into one that is merged now
   * get its survivor.
   */
  public static void insert(DSLContext sql, List<NewEnding> all) {
    sql.query(
            """
            insert into {0} (token, survivor, ended_at, type_id, status, reason, ended_by)
            select * from unnest({1}, {2}, {3}, {4}, {5}, {6}, {7})
            """,
            ENDING,
            Unnest.uuids(all, e -> e.row().token().toUuid()),
            Unnest.uuids(all, e -> uuid(e.ending().survivor())),
            Unnest.column(all, e -> e.ending().endedAt(), Instant[]::new),
            Unnest.integers(all, e -> e.row().typeNumber()),
            Unnest.shorts(all, e -> e.ending().status().number()),
            Unnest.texts(all, e -> e.ending().reason().orElse(null)),
            Unnest.texts(all, NewEnding::by))
        .execute();
    all.stream()
        .collect(Collectors.groupingBy(ended -> MappingTable.of(ended.row().key())))
        .forEach((table, some) -> setStatus(sql, table, some));
    flatten(sql, all.stream().filter(e -> e.ending().survivor().isPresent()).toList());
  }

  private static void setStatus(DSLContext sql, MappingTable<?> table, List<NewEnding> ended) {
    int _ =
        SET_STATUS.execute(
            sql,
            table::statement,
            ended,
            e -> e.row().token().bucket(),
            some ->
                new Object[] {
                  some.stream().map(e -> (short) e.row().token().bucket()).toArray(Short[]::new),
                  some.stream().map(e -> e.row().token().toUuid()).toArray(UUID[]::new),
                  some.stream().map(e -> e.ending().status().number()).toArray(Short[]::new)
                });
  }

  private static void flatten(DSLContext sql, List<NewEnding> merged) {
    if (!merged.isEmpty()) {
      sql.query(
              """
              update {0} as earlier set survivor = moved.into_token
              from unnest({1}, {2}, {3}) as moved (type_id, token, into_token)
              where earlier.type_id = moved.type_id and earlier.survivor = moved.token
              """,
              ENDING,
              Unnest.integers(merged, e -> e.row().typeNumber()),
              Unnest.uuids(merged, e -> e.row().token().toUuid()),
              Unnest.uuids(merged, e -> uuid(e.ending().survivor())))
          .execute();
    }
  }

  private static StoredEnding ending(Record row) {
    int typeNumber = row.get(ENDING.TYPE_ID);
    return new StoredEnding(
        new TypedToken(typeNumber, Token.of(row.get(ENDING.TOKEN))),
        row.get(ENDING.ENDED_AT),
        Optional.ofNullable(row.get(ENDING.REASON)),
        Optional.ofNullable(row.get(ENDING.SURVIVOR))
            .map(survivor -> new TypedToken(typeNumber, Token.of(survivor))));
  }

  private static @Nullable UUID uuid(Optional<TypedToken> survivor) {
    return survivor.map(id -> id.token().toUuid()).orElse(null);
  }
}
