package dev.coatcheck.migrate.film;

import dev.coatcheck.migrate.film.FilmRental.Table;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What Hibernate sends for entities with a sequence, an identity and a version. */
final class HibernateStatements {
  static final List<WebKind> KINDS =
      List.of(
          WebKind.together("hibernate: insert by sequence", HibernateStatements::insertBySequence),
          WebKind.together("hibernate: insert, identity", HibernateStatements::insertIdentity),
          WebKind.together("hibernate: insert, all generated keys", HibernateStatements::insertAll)
              .takingAllColumns(),
          WebKind.alone("hibernate: load", HibernateStatements::load),
          WebKind.together("hibernate: versioned update", HibernateStatements::versionedUpdate),
          WebKind.together("hibernate: batch of inserts", HibernateStatements::batch),
          WebKind.together("hibernate: pessimistic lock", HibernateStatements::lock),
          WebKind.together("hibernate: versioned delete", HibernateStatements::versionedDelete),
          WebKind.isolated(
              "hibernate: repeatable read", "repeatable read", HibernateStatements::repeatable));

  private static final String INSERT_CUSTOMER =
      "insert into customer (branch_id,email,full_name,is_active,note,version,id)"
          + " values (?,?,?,?,?,?,?)";
  private static final String INSERT_RENTAL =
      "insert into rental (customer_id,disc_id,note,version) values (?,?,?,?)";

  private HibernateStatements() {}

  private static void insertBySequence(WebCall call) throws SQLException {
    long id = call.one("select nextval('customer_id_seq')");
    call.change(INSERT_CUSTOMER, 1, null, "Hib Ernate", true, call.note, 0, id);
    call.note(() -> call.share.wrote(Table.CUSTOMER, id, call.note));
  }

  private static void insertIdentity(WebCall call) throws SQLException {
    insertRental(call, "id");
  }

  /** As older versions ask for them. */
  private static void insertAll(WebCall call) throws SQLException {
    insertRental(call, "");
  }

  private static void insertRental(WebCall call, String keyColumn) throws SQLException {
    long id =
        call.key(
            keyColumn, INSERT_RENTAL, call.share.seeded(Table.CUSTOMER), call.disc(), call.note, 0);
    call.note(() -> call.share.wrote(Table.RENTAL, id, call.note));
  }

  private static void load(WebCall call) throws SQLException {
    call.one(
        "select c1_0.id,c1_0.branch_id,c1_0.email,c1_0.full_name,c1_0.is_active,c1_0.note,"
            + "c1_0.version,c1_0.visits from customer c1_0 where c1_0.id=?",
        call.share.seeded(Table.CUSTOMER));
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
    call.note(() -> call.share.wrote(Table.CUSTOMER, id, call.note));
  }

  private static void batch(WebCall call) throws SQLException {
    List<Object[]> rows = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      long id = call.one("select nextval('customer_id_seq')");
      rows.add(new Object[] {2, null, "Bat Ch", true, call.note, 0, id});
      call.note(() -> call.share.wrote(Table.CUSTOMER, id, call.note));
    }
    call.batch(INSERT_CUSTOMER, rows);
  }

  private static void lock(WebCall call) throws SQLException {
    long id = call.share.hot(Table.CUSTOMER);
    long visits =
        call.one("select c1_0.visits from customer c1_0 where c1_0.id=? for no key update", id);
    call.change("update customer set visits=? where id=?", visits + 1, id);
    call.note(() -> call.share.counted(Table.CUSTOMER, id));
  }

  private static void versionedDelete(WebCall call) throws SQLException {
    long id = call.share.own(Table.RENTAL);
    long version = call.one("select r1_0.version from rental r1_0 where r1_0.id=?", id);
    List<Long> payments = call.rows("delete from payment where rental_id=? returning id", id);
    call.require(call.change("delete from rental where id=? and version=?", id, version) == 1);
    call.note(
        () -> {
          call.share.unpaid(payments);
          call.share.deleted(Table.RENTAL, id);
        });
  }

  private static void repeatable(WebCall call) throws SQLException {
    long id = call.share.hot(Table.CUSTOMER);
    long own = call.share.own(Table.RENTAL);
    call.rows("select c1_0.id,c1_0.visits from customer c1_0 where c1_0.id=?", id);
    call.change("update customer set visits=visits+1 where id=?", id);
    call.change("update rental set note=? where id=?", call.note, own);
    long made =
        call.key("id", INSERT_RENTAL, call.share.seeded(Table.CUSTOMER), call.disc(), call.note, 0);
    call.note(
        () -> {
          call.share.counted(Table.CUSTOMER, id);
          call.share.wrote(Table.RENTAL, own, call.note);
          call.share.wrote(Table.RENTAL, made, call.note);
        });
  }
}
