package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.Database;

/**
 * A Postgres that holds tables of customers.
 *
 * @param name as requests call it
 * @param settings for connections of one's own, outside of the pool
 * @param isGateway it is the gateway's own database, so that rows and mappings share a transaction
 * @param timeouts with a network that swallows everything
 */
public record Source(
    String name,
    DatabaseSettings settings,
    Database database,
    boolean isGateway,
    WatchTimeouts timeouts) {

  public Source(String name, DatabaseSettings settings, Database database, boolean isGateway) {
    this(name, settings, database, isGateway, WatchTimeouts.DEFAULT);
  }
}
