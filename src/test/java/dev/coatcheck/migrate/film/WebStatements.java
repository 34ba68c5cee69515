package dev.coatcheck.migrate.film;

import dev.coatcheck.migrate.film.FilmRental.Table;
import java.io.IOException;
import java.io.StringReader;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

/**
 * What frameworks send: Hibernate for entities with a sequence, an identity and a version;
 * ActiveRecord with its bulk methods; Prisma, every column by its name, qualified; Knex, and beside
 * it an import by COPY and the reports of the night.
 */
final class WebStatements {
  static final List<WebKind> KINDS =
      List.of(
          WebKind.together("hibernate: insert by sequence", WebStatements::insertBySequence),
          WebKind.together("hibernate: insert, all generated keys", WebStatements::insertGenerated)
              .takingAllColumns(),
          WebKind.together("hibernate: versioned update", WebStatements::versionedUpdate),
          WebKind.together("hibernate: batch of inserts", WebStatements::batch),
          WebKind.together("hibernate: pessimistic lock", WebStatements::lock),
          WebKind.together("hibernate: versioned delete", WebStatements::versionedDelete),
          WebKind.isolated(
              "hibernate: repeatable read", "repeatable read", WebStatements::repeatable),
          WebKind.alone("rails: find", WebStatements::find).takingAllColumns(),
          WebKind.together("rails: counter cache", WebStatements::counterCache),
          WebKind.alone("rails: insert_all", WebStatements::insertAll),
          WebKind.alone("rails: upsert_all", WebStatements::upsertAll),
          WebKind.together("rails: destroy", WebStatements::destroy).takingAllColumns(),
          WebKind.together("rails: create a payment", WebStatements::pay),
          WebKind.alone("prisma: upsert", WebStatements::upsert),
          WebKind.together("prisma: delete", WebStatements::delete),
          WebKind.isolated(
              "prisma: serializable transaction", "serializable", WebStatements::serializable),
          WebKind.alone("knex: insert of defaults", WebStatements::defaults),
          WebKind.alone("knex: update returning *", WebStatements::updateReturning)
              .takingAllColumns(),
          WebKind.together("knex: batchInsert", WebStatements::batchInsert),
          WebKind.together("copy: in", WebStatements::copyIn),
          WebKind.alone("report: views", WebStatements::views),
          WebKind.alone("report: rows of a function", WebStatements::rowsOfAFunction)
              .explaining(WebKind.OTHER_SHAPE, "prepared_star"),
          WebKind.alone("report: refresh", WebStatements::refresh));

  private static final String INSERT_CUSTOMER =
      "insert into customer (branch_id,email,full_name,is_active,note,version,id)"
          + " values (?,?,?,?,?,?,?)";

  private static final String INSERT_RENTAL =
      "insert into rental (customer_id,disc_id,note,version) values (?,?,?,?)";

  private static final String FIND_FILM =
      """
      SELECT "film".* FROM "film" WHERE "film"."film_id" = ? LIMIT ?\
      """;

  private static final String CREATE_RENTAL =
      """
      INSERT INTO "rental" ("customer_id", "disc_id", "note") VALUES (?, ?, ?) RETURNING "id"\
      """;

  private static final String CUSTOMER_COLUMNS =
      """
      "public"."customer"."id", "public"."customer"."full_name", "public"."customer"."email"\
      """;

  private WebStatements() {}

  private static void insertBySequence(WebCall call) throws SQLException {
    long id = call.one("select nextval('customer_id_seq')");
    call.change(INSERT_CUSTOMER, 1, null, "Hib Ernate", true, call.note, 0, id);
    call.wrote(Table.CUSTOMER, id);
  }

  /** As older versions ask for generated keys: for all columns. */
  private static void insertGenerated(WebCall call) throws SQLException {
    long id =
        call.key("", INSERT_RENTAL, call.share.seeded(Table.CUSTOMER), call.disc(), call.note, 0);
    call.wrote(Table.RENTAL, id);
  }

  /** No other worker writes its version. */
  private static void versionedUpdate(WebCall call) throws SQLException {
    long id = call.share.own(Table.CUSTOMER);
    long version = call.one("select c1_0.version from customer c1_0 where c1_0.id=?", id);
    int changed =
        call.change(
            "update customer set full_name=?,is_active=?,note=?,version=? where id=? and version=?",
            "Ver Sioned",
            call.random.nextBoolean(),
            call.note,
            version + 1,
            id,
            version);
    call.require(changed == 1);
    call.wrote(Table.CUSTOMER, id);
  }

  private static void batch(WebCall call) throws SQLException {
    List<Object[]> rows = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      long id = call.one("select nextval('customer_id_seq')");
      rows.add(new Object[] {2, null, "Bat Ch", true, call.note, 0, id});
      call.wrote(Table.CUSTOMER, id);
    }
    call.batch(INSERT_CUSTOMER, rows);
  }

  private static void lock(WebCall call) throws SQLException {
    long id = call.share.hot(Table.CUSTOMER);
    long visits =
        call.one("select c1_0.visits from customer c1_0 where c1_0.id=? for no key update", id);
    call.change("update customer set visits=? where id=?", visits + 1, id);
    call.counted(Table.CUSTOMER, id);
  }

  private static void versionedDelete(WebCall call) throws SQLException {
    long id = call.share.own(Table.RENTAL);
    long version = call.one("select r1_0.version from rental r1_0 where r1_0.id=?", id);
    List<Long> payments = call.rows("delete from payment where rental_id=? returning id", id);
    call.require(call.change("delete from rental where id=? and version=?", id, version) == 1);
    call.note(() -> call.share.unpaid(payments));
    call.deleted(Table.RENTAL, id);
  }

  private static void repeatable(WebCall call) throws SQLException {
    long id = call.share.hot(Table.CUSTOMER);
    long own = call.share.own(Table.RENTAL);
    call.rows("select c1_0.id,c1_0.visits from customer c1_0 where c1_0.id=?", id);
    call.change("update customer set visits=visits+1 where id=?", id);
    call.change("update rental set note=? where id=?", call.note, own);
    long made =
        call.key("id", INSERT_RENTAL, call.share.seeded(Table.CUSTOMER), call.disc(), call.note, 0);
    call.counted(Table.CUSTOMER, id);
    call.wrote(Table.RENTAL, own);
    call.wrote(Table.RENTAL, made);
  }

  private static void find(WebCall call) throws SQLException {
    call.one(
        """
        SELECT "customer".* FROM "customer" WHERE "customer"."id" = ? LIMIT ?\
        """,
        call.share.seeded(Table.CUSTOMER),
        1);
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
    call.counted(Table.FILM, film);
    call.wrote(Table.RENTAL, id);
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
    call.wrote(Table.FILM, ids);
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
    call.wrote(Table.FILM, one);
    call.wrote(Table.FILM, other);
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
    call.deleted(Table.FILM, id);
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

  /** A customer that is there, or a new one. */
  private static void upsert(WebCall call) throws SQLException {
    boolean isNew = call.random.nextBoolean();
    String email =
        isNew
            ? call.note + "@example.org"
            : "guest" + (1 + call.random.nextInt(20)) + "@example.org";
    long id =
        call.one(
            """
            INSERT INTO "public"."customer" ("email","full_name","note") VALUES (?,?,?)
            ON CONFLICT ("email") DO UPDATE SET "full_name" = ?
            WHERE ("public"."customer"."email" = ? AND 1=1) RETURNING \
            """
                + CUSTOMER_COLUMNS,
            email,
            "Up Sert",
            call.note,
            "Up Dated",
            email);
    if (isNew) {
      call.wrote(Table.CUSTOMER, id);
    }
  }

  private static void delete(WebCall call) throws SQLException {
    Long id = call.share.made(Table.CUSTOMER);
    if (id == null) {
      return;
    }
    call.one(
        """
        DELETE FROM "public"."customer" WHERE ("public"."customer"."id" = ? AND 1=1) RETURNING \
        """
            + CUSTOMER_COLUMNS,
        id);
    call.deleted(Table.CUSTOMER, id);
  }

  private static void serializable(WebCall call) throws SQLException {
    long customer = call.share.seeded(Table.CUSTOMER);
    call.one(
        """
        SELECT COUNT(*) FROM (SELECT "public"."rental"."id" FROM "public"."rental"
        WHERE "public"."rental"."customer_id" = ? OFFSET ?) AS "sub"\
        """,
        customer,
        0);
    long id =
        call.one(
            """
            INSERT INTO "public"."rental" ("customer_id","disc_id","note") VALUES (?,?,?)
            RETURNING "public"."rental"."id"\
            """,
            customer,
            call.disc(),
            call.note);
    call.wrote(Table.RENTAL, id);
  }

  private static void defaults(WebCall call) throws SQLException {
    long id = call.one("insert into \"customer\" default values returning \"id\"");
    call.note(() -> call.share.wrote(Table.CUSTOMER, id, ""));
  }

  private static void updateReturning(WebCall call) throws SQLException {
    long id = call.share.own(Table.RENTAL);
    call.one(
        """
        update "rental" set "returned_at" = CURRENT_TIMESTAMP, "note" = ? where "id" = ? returning *\
        """,
        call.note,
        id);
    call.wrote(Table.RENTAL, id);
  }

  private static void batchInsert(WebCall call) throws SQLException {
    int rows = 1 + call.random.nextInt(30);
    Object[] values = new Object[rows * 3];
    for (int i = 0; i < rows; i++) {
      values[i * 3] = call.share.seeded(Table.CUSTOMER);
      values[i * 3 + 1] = call.disc();
      values[i * 3 + 2] = call.note;
    }
    List<Long> ids =
        call.rows(
            "insert into \"rental\" (\"customer_id\", \"disc_id\", \"note\") values "
                + String.join(", ", java.util.Collections.nCopies(rows, "(?, ?, ?)"))
                + " returning \"id\"",
            values);
    call.wrote(Table.RENTAL, ids);
  }

  private static void copyIn(WebCall call) throws SQLException, IOException {
    List<String> lines =
        IntStream.range(0, 1 + call.random.nextInt(40)).mapToObj(i -> call.note + "-" + i).toList();
    call.connection
        .unwrap(PGConnection.class)
        .getCopyAPI()
        .copyIn(
            "copy customer (full_name, note) from stdin",
            new StringReader(
                lines.stream().map(line -> "Co Py\t" + line + "\n").collect(Collectors.joining())));
    call.note(() -> call.share.copied(lines));
  }

  private static void views(WebCall call) throws SQLException {
    call.rows("select id, full_name, rentals from customer_list order by rentals desc limit 5");
    call.rows("select discs_in_stock(?)", call.random.nextInt(20));
    call.rows("select film_id, title, earned from film_earnings order by earned desc limit 5");
  }

  /** It returns whole rows, of which the caller takes two columns. */
  private static void rowsOfAFunction(WebCall call) throws SQLException {
    call.rows("select id, full_name from frequent_customers(?)", 2L);
  }

  private static void refresh(WebCall call) throws SQLException {
    if (call.random.nextInt(8) == 0) {
      call.rows("select refresh_earnings()");
    }
  }
}
