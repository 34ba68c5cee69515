package dev.coatcheck.migrate.film;

import dev.coatcheck.migrate.film.FilmRental.Table;
import java.sql.SQLException;
import java.util.List;

/** What ActiveRecord sends, with the statements of its bulk methods. */
final class RailsStatements {
  static final List<WebKind> KINDS =
      List.of(
          WebKind.alone("rails: find", RailsStatements::find).takingAllColumns(),
          WebKind.together("rails: create", RailsStatements::create),
          WebKind.together("rails: find and update", RailsStatements::findAndUpdate)
              .takingAllColumns(),
          WebKind.together("rails: counter cache", RailsStatements::counterCache),
          WebKind.alone("rails: insert_all", RailsStatements::insertAll),
          WebKind.alone("rails: upsert_all", RailsStatements::upsertAll),
          WebKind.alone("rails: find_each", RailsStatements::findEach).takingAllColumns(),
          WebKind.together("rails: destroy", RailsStatements::destroy).takingAllColumns(),
          WebKind.together("rails: nested transaction", RailsStatements::nested),
          WebKind.together("rails: create a payment", RailsStatements::pay));

  private static final String FIND_FILM =
      """
      SELECT "film".* FROM "film" WHERE "film"."film_id" = ? LIMIT ?\
      """;
  private static final String CREATE_RENTAL =
      """
      INSERT INTO "rental" ("customer_id", "disc_id", "note") VALUES (?, ?, ?) RETURNING "id"\
      """;

  private RailsStatements() {}

  private static void find(WebCall call) throws SQLException {
    call.one(
        """
        SELECT "customer".* FROM "customer" WHERE "customer"."id" = ? LIMIT ?\
        """,
        call.share.seeded(Table.CUSTOMER),
        1);
  }

  private static void create(WebCall call) throws SQLException {
    long id =
        call.one(
            """
            INSERT INTO "film" ("title", "description", "added_at", "updated_at", "note")
            VALUES (?, ?, now(), now(), ?) RETURNING "film_id"\
            """,
            "Made on  Rails",
            "In which a train is late",
            call.note);
    call.note(() -> call.share.wrote(Table.FILM, id, call.note));
  }

  private static void findAndUpdate(WebCall call) throws SQLException {
    long id = call.share.own(Table.FILM);
    call.one(FIND_FILM, id, 1);
    call.change(
        """
        UPDATE "film" SET "note" = ?, "updated_at" = now() WHERE "film"."film_id" = ?\
        """,
        call.note,
        id);
    call.note(() -> call.share.wrote(Table.FILM, id, call.note));
  }

  private static void counterCache(WebCall call) throws SQLException {
    long film = call.share.hot(Table.FILM);
    long id = rental(call);
    call.change(
        """
        UPDATE "film" SET "rentals_count" = COALESCE("rentals_count", 0) + 1
         WHERE "film"."film_id" = ?\
        """,
        film);
    call.note(() -> call.share.counted(Table.FILM, film));
    call.note(() -> call.share.wrote(Table.RENTAL, id, call.note));
  }

  private static void insertAll(WebCall call) throws SQLException {
    List<Long> ids =
        call.rows(
            """
            INSERT INTO "film" ("title","note") VALUES ('First', ?), ('Second', ?)
            ON CONFLICT  DO NOTHING RETURNING "film_id"\
            """,
            call.note,
            call.note);
    call.note(() -> ids.forEach(id -> call.share.wrote(Table.FILM, id, call.note)));
  }

  /** Rows that are there, and rows that were. */
  private static void upsertAll(WebCall call) throws SQLException {
    long one = call.share.goneOrOwn(Table.FILM);
    long other = call.share.own(Table.FILM);
    if (one == other) {
      return;
    }
    call.rows(
        """
        INSERT INTO "film" ("film_id","title","note")
        VALUES (?, 'Up', ?), (?, 'Sert', ?) ON CONFLICT ("film_id") DO UPDATE SET
        updated_at=(CASE WHEN ("film"."title" IS NOT DISTINCT FROM excluded."title"
        AND "film"."note" IS NOT DISTINCT FROM excluded."note")
        THEN "film".updated_at ELSE CURRENT_TIMESTAMP END),
        "title"=excluded."title","note"=excluded."note" RETURNING "film_id"\
        """,
        one,
        call.note,
        other,
        call.note);
    call.note(() -> call.share.wrote(Table.FILM, one, call.note));
    call.note(() -> call.share.wrote(Table.FILM, other, call.note));
  }

  private static void findEach(WebCall call) throws SQLException {
    call.rows(
        """
        SELECT "film".* FROM "film" WHERE "film"."film_id" > ?
        ORDER BY "film"."film_id" ASC LIMIT ?\
        """,
        call.share.seeded(Table.FILM),
        100);
  }

  private static void destroy(WebCall call) throws SQLException {
    Long id = call.share.made(Table.FILM);
    if (id == null) {
      return;
    }
    call.one(FIND_FILM, id, 1);
    call.rows(
        """
        SELECT 1 AS one FROM "disc" WHERE "disc"."film_id" = ? LIMIT ?\
        """,
        id,
        1);
    call.change(
        """
        DELETE FROM "film" WHERE "film"."film_id" = ?\
        """,
        id);
    call.note(() -> call.share.deleted(Table.FILM, id));
  }

  private static void nested(WebCall call) throws SQLException {
    long id = rental(call);
    call.send("SAVEPOINT active_record_1");
    rental(call);
    call.send("ROLLBACK TO SAVEPOINT active_record_1");
    long second = rental(call);
    call.note(() -> call.share.wrote(Table.RENTAL, id, call.note));
    call.note(() -> call.share.wrote(Table.RENTAL, second, call.note));
  }

  private static void pay(WebCall call) throws SQLException {
    long id =
        call.one(
            """
            INSERT INTO "payment" ("customer_id", "rental_id", "amount", "paid_at")
            VALUES (?, ?, ?, now() - ? * interval '1 day') RETURNING "id", "paid_at"\
            """,
            call.share.seeded(Table.CUSTOMER),
            call.share.own(Table.RENTAL),
            3,
            call.random.nextInt(80));
    call.note(() -> call.share.paid(id));
  }

  private static long rental(WebCall call) throws SQLException {
    return call.one(CREATE_RENTAL, call.share.seeded(Table.CUSTOMER), call.disc(), call.note);
  }
}
