package dev.coatcheck.migrate.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.StatementTimeout;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SourcesTest {
  private static final TestDatabase ON = TestDatabase.empty();
  private static final DatabaseSettings OWN =
      new DatabaseSettings(ON.url(), ON.user(), ON.password(), 10);
  private static final DatabaseSettings DOWN =
      new DatabaseSettings("jdbc:postgresql://127.0.0.1:1/none", "me", "", 10);

  private final Observer observer = new Observer();
  private final Sources sources =
      new Sources(OWN, Map.of("shop", OWN, "attic", DOWN, "barn", DOWN), observer);

  @AfterEach
  void close() {
    sources.close();
  }

  @Test
  void theGatewaysOwnDatabaseComesFirst() {
    assertThat(sources.names()).containsExactly("gateway", "attic", "barn", "shop");
    assertThat(sources.named("gateway")).get().matches(Source::isGateway);
    assertThat(sources.named("shop")).get().matches(source -> !source.isGateway());
    assertThat(sources.named("SHOP")).isEmpty();
    assertThat(sources.named("cellar")).isEmpty();
  }

  @Test
  void aPoolIsOpenedWhenItsSourceIsAskedForAndStaysSmall() {
    assertThat(observer.scrape()).doesNotContain("source-");

    Source shop = sources.named("shop").orElseThrow();

    assertThat(TestDatabase.isReachable(shop.database())).isTrue();
    assertThat(shop.settings().connectionsMax()).isEqualTo(4);
    assertThat(sources.named("shop")).get().isSameAs(shop);
    assertThat(observer.scrape())
        .contains("hikaricp_connections_max{pool=\"source-shop\"} 4.0")
        .doesNotContain("source-gateway");
  }

  @Test
  void aSourceThatIsDownIsThereAllTheSame() {
    assertThat(sources.named("attic"))
        .get()
        .satisfies(source -> assertThat(TestDatabase.isReachable(source.database())).isFalse());
    assertThat(TestDatabase.isReachable(sources.named("shop").orElseThrow().database())).isTrue();
  }

  @Test
  void aStatementOfTheGatewayEndsAtTheServerBeforeItsConnectionIsGivenUp() {
    Database shop = sources.named("shop").orElseThrow().database();

    String limit =
        shop.read("test", sql -> sql.fetchSingle("show statement_timeout").get(0, String.class));

    assertThat(limit).isEqualTo("9s");
  }

  /** A client that gives up first leaves a backend that waits on, and another with each retry. */
  @Test
  @Tag("faults")
  void aStatementThatWaitsForALockOfTheCustomerEndsAtTheServer() {
    ON.sql().execute("create table public.held (n int)");
    try (TestSession holder = ON.sql().session()) {
      holder.begin("lock table public.held");

      assertThatThrownBy(
              () ->
                  sources
                      .named("shop")
                      .orElseThrow()
                      .database()
                      .read("test", sql -> sql.fetchCount(sql.selectFrom("public.held"))))
          .isInstanceOf(StatementTimeout.class);

      assertThat(
              ON.sql()
                  .number(
                      "select count(*) from pg_locks where relation = 'public.held'::regclass"
                          + " and not granted"))
          .isZero();
    }
  }

  @Test
  void gatewayIsNoNameForAnother() {
    assertThatThrownBy(() -> new Sources(OWN, Map.of("gateway", DOWN), observer))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void afterTheCloseNoPoolIsOpened() {
    sources.close();

    assertThatThrownBy(() -> sources.named("shop")).isInstanceOf(IllegalStateException.class);
  }
}
