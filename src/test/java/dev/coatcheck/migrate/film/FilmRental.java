package dev.coatcheck.migrate.film;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.run.MigrationFixture;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** The database of a film rental, and a role for its web application that owns none of it. */
final class FilmRental implements AutoCloseable {
  private static final int CONNECTIONS = 6;

  final Map<Table, Type> types = new EnumMap<>(Table.class);
  final MigrationFixture source;
  private final String role = "web_" + Long.toHexString(System.nanoTime());

  /** A table whose key migrates. */
  enum Table {
    CUSTOMER("customer", "id", "created_at", "cus"),
    FILM("film", "film_id", "added_at", "film"),
    RENTAL("rental", "id", "rented_at", "rent");

    final String text;
    final String key;
    final String createdAt;
    private final String prefix;

    Table(String text, String key, String createdAt, String prefix) {
      this.text = text;
      this.key = key;
      this.createdAt = createdAt;
      this.prefix = prefix;
    }
  }

  private FilmRental(MigrationFixture source) {
    this.source = source;
  }

  /** With so many customers, a quarter as many films and twice as many rentals. */
  static FilmRental of(MigrationFixture source, int customers) {
    FilmRental rental = new FilmRental(source);
    for (Table table : Table.values()) {
      rental.types.put(table, source.gateway.type(table.text, table.prefix, KeyKind.BIGINT));
    }
    String role = rental.role;
    source.execute(
        "create extension if not exists pg_stat_statements",
        "set film_rental.size = %d; ".formatted(customers) + schema(),
        "create role " + role,
        "grant usage on schema public to " + role,
        "grant select, insert, update, delete on all tables in schema public to " + role,
        "grant usage on all sequences in schema public to " + role);
    return rental;
  }

  private static String schema() {
    try (InputStream file = FilmRental.class.getResourceAsStream("film-rental.sql")) {
      return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** The application's connections. */
  HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(source.settings.url());
    config.setUsername(source.settings.user());
    config.setPassword(source.settings.password());
    config.setMaximumPoolSize(CONNECTIONS);
    config.setConnectionInitSql("set role " + role + "; set search_path = public");
    config.setPoolName("film-rental");
    return new HikariDataSource(config);
  }

  /** What would keep the old columns from going. */
  void dropViews() {
    source.execute("drop view customer_list", "drop materialized view film_earnings");
  }

  @Override
  public void close() {
    source.execute("drop owned by " + role, "drop role " + role);
  }
}
