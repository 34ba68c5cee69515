package dev.coatcheck.migrate.film;

import dev.coatcheck.migrate.film.FilmRental.Table;
import java.sql.SQLException;
import java.util.List;

/** What Prisma's client sends: every column by its name, qualified. */
final class PrismaStatements {
  static final List<WebKind> KINDS =
      List.of(
          WebKind.alone("prisma: create", PrismaStatements::create),
          WebKind.alone("prisma: findMany", PrismaStatements::findMany),
          WebKind.alone("prisma: upsert", PrismaStatements::upsert),
          WebKind.together("prisma: updateMany", PrismaStatements::updateMany),
          WebKind.together("prisma: createMany", PrismaStatements::createMany),
          WebKind.together("prisma: delete", PrismaStatements::delete),
          WebKind.isolated(
              "prisma: serializable transaction", "serializable", PrismaStatements::serializable));

  private static final String CREATED =
      """
      "public"."customer"."id", "public"."customer"."full_name", "public"."customer"."email"\
      """;

  private PrismaStatements() {}

  private static void create(WebCall call) throws SQLException {
    long id =
        call.one(
            """
            INSERT INTO "public"."customer" ("full_name","note","visits") VALUES (?,?,?) RETURNING \
            """
                + CREATED,
            "Pris Ma",
            call.note,
            0);
    call.note(() -> call.share.wrote(Table.CUSTOMER, id, call.note));
    call.one(
        "SELECT "
            + CREATED
            + """
             FROM "public"."customer"
            WHERE ("public"."customer"."id" = ? AND 1=1) LIMIT ? OFFSET ?\
            """,
        id,
        1,
        0);
  }

  private static void findMany(WebCall call) throws SQLException {
    call.rows(
        """
        SELECT "public"."rental"."id", "public"."rental"."customer_id", "public"."rental"."note"
        FROM "public"."rental" WHERE "public"."rental"."customer_id" IN (?,?,?) OFFSET ?\
        """,
        call.share.seeded(Table.CUSTOMER),
        call.share.seeded(Table.CUSTOMER),
        call.share.seeded(Table.CUSTOMER),
        0);
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
                + CREATED,
            email,
            "Up Sert",
            call.note,
            "Up Dated",
            email);
    if (isNew) {
      call.note(() -> call.share.wrote(Table.CUSTOMER, id, call.note));
    }
  }

  private static void updateMany(WebCall call) throws SQLException {
    List<Long> ids = call.share.several(Table.CUSTOMER);
    int changed =
        call.change(
            """
            UPDATE "public"."customer" SET "note" = ?
            WHERE ("public"."customer"."id" IN (%s) AND 1=1)\
            """
                .formatted(String.join(",", ids.stream().map(_ -> "?").toList())),
            values(call.note, ids));
    call.require(changed == ids.size());
    call.note(() -> ids.forEach(id -> call.share.wrote(Table.CUSTOMER, id, call.note)));
  }

  private static void createMany(WebCall call) throws SQLException {
    List<Long> ids =
        call.rows(
            """
            INSERT INTO "public"."rental" ("customer_id","disc_id","note")
            VALUES (?,?,?), (?,?,?), (?,?,DEFAULT) ON CONFLICT DO NOTHING RETURNING "id"\
            """,
            call.share.seeded(Table.CUSTOMER),
            call.disc(),
            call.note,
            call.share.seeded(Table.CUSTOMER),
            call.disc(),
            call.note,
            call.share.seeded(Table.CUSTOMER),
            call.disc());
    call.note(() -> call.share.wrote(Table.RENTAL, ids.get(0), call.note));
    call.note(() -> call.share.wrote(Table.RENTAL, ids.get(1), call.note));
    call.note(() -> call.share.wrote(Table.RENTAL, ids.get(2), ""));
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
            + CREATED,
        id);
    call.note(() -> call.share.deleted(Table.CUSTOMER, id));
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
    call.note(() -> call.share.wrote(Table.RENTAL, id, call.note));
  }

  private static Object[] values(String first, List<Long> rest) {
    Object[] values = new Object[1 + rest.size()];
    values[0] = first;
    for (int i = 0; i < rest.size(); i++) {
      values[i + 1] = rest.get(i);
    }
    return values;
  }
}
