package dev.coatcheck.ids.mapping;

import static dev.coatcheck.postgres.sql.schema.Tables.ENDING;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.Unnest;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record4;
import org.jspecify.annotations.Nullable;

/** The rows of endings, for use inside transactions. */
public final class EndingTable {
  private EndingTable() {}

  /** The endings that there are, and the time of the transaction. */
  public record Known(Instant now, List<StoredEnding> endings) {}

  /**
   * Reads the endings of the tokens, and bounds the waits of the transaction.
   *
   * @param lockMillisMax for every wait that follows
   */
  public static Known look(DSLContext sql, Collection<Token> tokens, int lockMillisMax) {
    Field<Instant> now = field("now", ENDING.ENDED_AT.getDataType());
    var rows =
        sql.resultQuery(
                """
                select ending.token, ending.ended_at, ending.reason, ending.survivor,
                       this.now, this.lock_timeout
                  from (select now(), set_config('lock_timeout', {1}, true))
                         as this (now, lock_timeout)
                  left join {0} as ending on ending.token = any({2})
                """,
                ENDING, val(lockMillisMax + "ms"), Unnest.uuids(List.copyOf(tokens), Token::toUuid))
            .coerce(ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR, now)
            .fetch();
    return new Known(
        rows.getFirst().value5(),
        rows.stream()
            .filter(row -> row.value1() != null)
            .map(row -> row.into(ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR))
            .map(EndingTable::ending)
            .toList());
  }

  /** The endings of the tokens and of what these were merged into, in one snapshot. */
  static List<StoredEnding> withSurvivors(DSLContext sql, List<Token> tokens) {
    return sql.select(ENDING.TOKEN, ENDING.ENDED_AT, ENDING.REASON, ENDING.SURVIVOR)
        .from(ENDING)
        .where(
            "token = any({0}) or token in (select survivor from coatcheck.ending where"
                + " token = any({0}))",
            Unnest.uuids(tokens, Token::toUuid))
        .fetch(EndingTable::ending);
  }

  /**
   * Writes endings, and the status of their rows. What was merged into an ID that is merged now
   * goes to the survivor of both.
   *
   * @param all not empty
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
    sql.query(
            """
            update {0} as row set status = ended.status
            from unnest({1}, {2}, {3}) as ended (bucket, token, status)
            where row.bucket = ended.bucket and row.token = ended.token
            """,
            table.table(),
            Unnest.shorts(ended, e -> e.row().token().bucket()),
            Unnest.uuids(ended, e -> e.row().token().toUuid()),
            Unnest.shorts(ended, e -> e.ending().status().number()))
        .execute();
  }

  private static void flatten(DSLContext sql, List<NewEnding> merged) {
    if (!merged.isEmpty()) {
      sql.query(
              """
              update {0} as earlier set survivor = moved.into_token
              from unnest({1}, {2}) as moved (token, into_token)
              where earlier.survivor = moved.token
              """,
              ENDING,
              Unnest.uuids(merged, e -> e.row().token().toUuid()),
              Unnest.uuids(merged, e -> uuid(e.ending().survivor())))
          .execute();
    }
  }

  private static StoredEnding ending(Record4<UUID, Instant, String, UUID> row) {
    return new StoredEnding(
        Token.of(row.value1()),
        row.value2(),
        Optional.ofNullable(row.value3()),
        Optional.ofNullable(row.value4()).map(Token::of));
  }

  private static @Nullable UUID uuid(Optional<Token> token) {
    return token.map(Token::toUuid).orElse(null);
  }
}
