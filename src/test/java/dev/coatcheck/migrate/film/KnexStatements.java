package dev.coatcheck.migrate.film;

import dev.coatcheck.migrate.film.FilmRental.Table;
import java.io.IOException;
import java.io.StringReader;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

/** What Knex sends, and beside it an import by COPY and the reports of the night. */
final class KnexStatements {
  static final List<WebKind> KINDS =
      List.of(
          WebKind.alone("knex: insert of defaults", KnexStatements::defaults),
          WebKind.alone("knex: insert of several", KnexStatements::several),
          WebKind.alone("knex: merge", KnexStatements::merge),
          WebKind.alone("knex: update returning *", KnexStatements::updateReturning)
              .takingAllColumns(),
          WebKind.together("knex: batchInsert", KnexStatements::batchInsert),
          WebKind.alone("knex: del", KnexStatements::delete),
          WebKind.alone("knex: increment", KnexStatements::increment),
          WebKind.together("copy: in", KnexStatements::copyIn),
          WebKind.alone("copy: out", KnexStatements::copyOut),
          WebKind.alone("report: views", KnexStatements::views),
          WebKind.alone("report: rows of a function", KnexStatements::rowsOfAFunction)
              .explaining(WebKind.OTHER_SHAPE, "prepared_star"),
          WebKind.alone("report: refresh", KnexStatements::refresh));

  private KnexStatements() {}

  private static void defaults(WebCall call) throws SQLException {
    long id = call.one("insert into \"customer\" default values returning \"id\"");
    call.note(() -> call.share.wrote(Table.CUSTOMER, id, ""));
  }

  private static void several(WebCall call) throws SQLException {
    List<Long> ids =
        call.rows(
            """
            insert into "film" ("description", "note", "title")
            values (?, ?, ?), (?, ?, DEFAULT), (DEFAULT, ?, ?) returning "film_id"\
            """,
            "one",
            call.note,
            "One",
            "two",
            call.note,
            call.note,
            "Three");
    call.note(() -> ids.forEach(id -> call.share.wrote(Table.FILM, id, call.note)));
  }

  private static void merge(WebCall call) throws SQLException {
    long id = call.share.goneOrOwn(Table.CUSTOMER);
    call.change(
        """
        insert into "customer" ("full_name", "id", "note") values (?, ?, ?)
        on conflict ("id") do update set "full_name" = excluded."full_name",
        "id" = excluded."id", "note" = excluded."note"\
        """,
        "Mer Ge",
        id,
        call.note);
    call.note(() -> call.share.wrote(Table.CUSTOMER, id, call.note));
  }

  private static void updateReturning(WebCall call) throws SQLException {
    long id = call.share.own(Table.RENTAL);
    call.one(
        """
        update "rental" set "returned_at" = CURRENT_TIMESTAMP, "note" = ? where "id" = ? returning *\
        """,
        call.note,
        id);
    call.note(() -> call.share.wrote(Table.RENTAL, id, call.note));
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
    call.note(() -> ids.forEach(id -> call.share.wrote(Table.RENTAL, id, call.note)));
  }

  private static void delete(WebCall call) throws SQLException {
    Long id = call.share.made(Table.CUSTOMER);
    if (id == null) {
      return;
    }
    call.require(call.change("delete from \"customer\" where \"id\" = ?", id) == 1);
    call.note(() -> call.share.deleted(Table.CUSTOMER, id));
  }

  private static void increment(WebCall call) throws SQLException {
    long id = call.share.hot(Table.FILM);
    call.change(
        "update \"film\" set \"rentals_count\" = \"rentals_count\" + 1 where \"film_id\" = ?", id);
    call.note(() -> call.share.counted(Table.FILM, id));
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

  private static void copyOut(WebCall call) throws SQLException, IOException {
    call.connection
        .unwrap(PGConnection.class)
        .getCopyAPI()
        .copyOut(
            "copy (select id, note from rental order by id limit 200) to stdout",
            java.io.Writer.nullWriter());
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
