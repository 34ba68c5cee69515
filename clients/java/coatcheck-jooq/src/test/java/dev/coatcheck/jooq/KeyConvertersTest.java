package dev.coatcheck.jooq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import dev.coatcheck.id.Key;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.time.Duration;
import java.util.UUID;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record2;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Keys in records, in a real Postgres. */
class KeyConvertersTest {
  record Charge() {}

  record User() {}

  private static final Table<?> CHARGE = table(name("charge"));
  private static final Field<Key<Charge>> ID =
      field(name("id"), SQLDataType.BIGINT.asConvertedDataType(KeyConverters.bigint(Charge.class)));
  private static final Field<Key<User>> PAYER =
      field(name("payer"), SQLDataType.UUID.asConvertedDataType(KeyConverters.uuid(User.class)));

  private static EmbeddedPostgres postgres;
  private static Connection connection;
  private static DSLContext sql;

  @BeforeAll
  static void start() throws Exception {
    postgres = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
    connection = postgres.getPostgresDatabase().getConnection();
    sql = DSL.using(connection, SQLDialect.POSTGRES);
    sql.execute("create table charge (id bigint primary key, payer uuid)");
  }

  @AfterAll
  static void stop() throws Exception {
    if (connection != null) {
      connection.close();
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  @Test
  void recordsHoldKeys() {
    Key<Charge> id = Key.of(Charge.class, 514719115370328064L);
    Key<User> payer = Key.of(User.class, UUID.randomUUID());
    sql.insertInto(CHARGE, ID, PAYER).values(id, payer).execute();

    Record2<Key<Charge>, Key<User>> found =
        sql.select(ID, PAYER).from(CHARGE).where(ID.eq(id)).fetchSingle();

    assertThat(found.value1()).isEqualTo(id);
    assertThat(found.value2()).isEqualTo(payer);
    assertThat(sql.fetchCount(CHARGE, PAYER.eq(payer))).isEqualTo(1);
  }

  @Test
  void nullStaysNull() {
    Key<Charge> id = Key.of(Charge.class, 1);
    sql.insertInto(CHARGE, ID).values(id).execute();

    assertThat(sql.select(PAYER).from(CHARGE).where(ID.eq(id)).fetchSingle().value1()).isNull();
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"}) // what a caller does who ignores warnings
  void theKeyOfAnotherClassOrKindIsRefused() {
    for (Key wrong : new Key[] {Key.of(User.class, 2), Key.of(Charge.class, UUID.randomUUID())}) {
      assertThatThrownBy(() -> sql.insertInto(CHARGE, ID).values((Key<Charge>) wrong).execute())
          .hasStackTraceContaining("is given for a column of bigint");
    }
  }
}
