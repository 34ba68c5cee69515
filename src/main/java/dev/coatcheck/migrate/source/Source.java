package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Patience;
import dev.coatcheck.postgres.sql.Database;

/**
 * A Postgres with tables of customers.
 *
 * @param name in requests
 * @param settings for connections outside of the pool
 * @param isGateway whether it is the gateway's own database, so that rows and mappings share a
 *     transaction
 * @param patience with a network that drops all packets
 */
public record Source(
    String name,
    DatabaseSettings settings,
    Database database,
    boolean isGateway,
    Patience patience) {

  public Source(String name, DatabaseSettings settings, Database database, boolean isGateway) {
    this(name, settings, database, isGateway, Patience.DEFAULT);
  }
}
