package dev.coatcheck.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.id.Key;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Keys in entities, in a real Postgres. */
class KeyTypeTest {
  private static EmbeddedPostgres postgres;
  private static SessionFactory sessions;
  private static final AtomicLong MADE = new AtomicLong(514719115370328064L);

  @Entity(name = "charge")
  static class Charge {
    @Id @KeyType private Key<Charge> id;

    @KeyType(KeyType.Kind.UUID)
    private @Nullable Key<User> payer;

    protected Charge() {}

    Charge(Key<Charge> id, @Nullable Key<User> payer) {
      this.id = id;
      this.payer = payer;
    }
  }

  @Entity(name = "app_user")
  static class User {
    @Id
    @KeyType(KeyType.Kind.UUID)
    private Key<User> id;

    protected User() {}

    User(Key<User> id) {
      this.id = id;
    }
  }

  @Entity(name = "refund")
  static class Refund {
    @Id @KeyType private Key<Refund> id;
    @KeyType private Key<Charge> charge;

    protected Refund() {}

    Refund(Key<Refund> id, Key<Charge> charge) {
      this.id = id;
      this.charge = charge;
    }
  }

  @Entity(name = "receipt")
  static class Receipt {
    @Id @KeyType @LeasedSnowflake private @Nullable Key<Receipt> id;
  }

  @Entity(name = "numbered")
  static class Numbered {
    @Id @LeasedSnowflake private long id;
  }

  @Entity(name = "untyped")
  static class Untyped {
    @Id @KeyType private Key<?> id;
  }

  @BeforeAll
  static void start() throws Exception {
    postgres = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
    sessions =
        configuration(Charge.class, User.class, Refund.class, Receipt.class, Numbered.class)
            .buildSessionFactory();
  }

  @AfterAll
  static void stop() throws Exception {
    if (sessions != null) {
      sessions.close();
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  @Test
  void aKeyIsTheIdentifierOfAnEntity() {
    Key<Charge> number = Key.of(Charge.class, 514719115370328064L);
    Key<User> uuid = Key.of(User.class, UUID.randomUUID());
    sessions.inTransaction(
        session -> {
          session.persist(new Charge(number, uuid));
          session.persist(new User(uuid));
        });

    sessions.inSession(
        session -> {
          Charge charge = session.find(Charge.class, number);
          assertThat(charge.id).isEqualTo(number);
          assertThat(charge.payer).isEqualTo(uuid);
          assertThat(session.find(User.class, uuid).id).isEqualTo(uuid);
        });
  }

  @Test
  void twoAttributesOfOneKindHaveKeysOfTwoClasses() {
    Refund refund = new Refund(Key.of(Refund.class, 7), Key.of(Charge.class, 8));
    sessions.inTransaction(session -> session.persist(refund));

    sessions.inSession(
        session -> {
          Refund read = session.find(Refund.class, Key.of(Refund.class, 7));
          assertThat(read.id).isEqualTo(refund.id);
          assertThat(read.charge).isEqualTo(refund.charge);
        });
  }

  @Test
  void theColumnsAreBigintAndUuid() {
    sessions.inSession(
        session ->
            assertThat(
                    session
                        .createNativeQuery(
                            "select data_type from information_schema.columns"
                                + " where table_name = 'charge' order by column_name",
                            String.class)
                        .list())
                .isEqualTo(List.of("bigint", "uuid")));
  }

  @Test
  void aKeyIsAParameterOfAQueryAndMayBeNull() {
    Key<Charge> with = Key.of(Charge.class, 1);
    Key<Charge> without = Key.of(Charge.class, 2);
    Key<User> payer = Key.of(User.class, UUID.randomUUID());
    sessions.inTransaction(
        session -> {
          session.persist(new Charge(with, payer));
          session.persist(new Charge(without, null));
        });

    sessions.inSession(
        session -> {
          assertThat(
                  session
                      .createQuery("from charge where payer = :payer", Charge.class)
                      .setParameter("payer", payer)
                      .list())
              .extracting(charge -> charge.id)
              .containsExactly(with);
          assertThat(session.find(Charge.class, without).payer).isNull();
        });
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"}) // what a caller does who ignores warnings
  void theKeyOfAnotherClassIsRefused() {
    Key wrong = Key.of(User.class, 3);

    assertThatThrownBy(
            () -> sessions.inTransaction(session -> session.persist(new Charge(wrong, null))))
        .hasStackTraceContaining("is given for a column of");
  }

  @Test
  void anEntityWithoutIdentifierGetsAKeyOfTheProcess() {
    Receipt receipt = new Receipt();
    Receipt own = new Receipt();
    own.id = Key.of(Receipt.class, 5);
    Numbered numbered = new Numbered();
    long before = MADE.get();
    sessions.inTransaction(
        session -> {
          session.persist(receipt);
          session.persist(own);
          session.persist(numbered);
        });

    assertThat(receipt.id).isEqualTo(Key.of(Receipt.class, before + 1));
    assertThat(numbered.id).isEqualTo(before + 2);
    sessions.inSession(
        session -> {
          assertThat(session.find(Receipt.class, receipt.id)).isNotNull();
          assertThat(session.find(Receipt.class, Key.of(Receipt.class, 5))).isNotNull();
        });
  }

  @Test
  void withoutASourceOfKeysTheStartFails() {
    Configuration without = configuration(Receipt.class);
    without.getProperties().remove(LeasedSnowflakeGenerator.KEYS);
    assertThatThrownBy(() -> without.buildSessionFactory().close())
        .hasStackTraceContaining("@LeasedSnowflake needs the setting coatcheck.snowflakes");
  }

  @Test
  void aKeyWithoutClassStopsTheStart() {
    assertThatThrownBy(() -> configuration(Untyped.class).buildSessionFactory().close())
        .hasStackTraceContaining("@KeyType needs an attribute such as Key<Charge>");
  }

  private static Configuration configuration(Class<?>... entities) {
    Configuration configuration =
        new Configuration()
            .setProperty("hibernate.connection.url", postgres.getJdbcUrl("postgres", "postgres"))
            .setProperty("hibernate.cdi.extensions", "true") // as with Spring's container
            .setProperty("hibernate.hbm2ddl.auto", "create");
    LongSupplier keys = MADE::incrementAndGet;
    configuration.getProperties().put(LeasedSnowflakeGenerator.KEYS, keys);
    for (Class<?> entity : entities) {
      configuration.addAnnotatedClass(entity);
    }
    return configuration;
  }
}
