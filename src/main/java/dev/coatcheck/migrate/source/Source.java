package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseSettings;

/**
 * A Postgres that holds tables of customers.
 *
 * @param name as requests call it
 * @param settings for connections of one's own, outside of the pool
 * @param isGateway it is the gateway's own database, so that rows and mappings share a transaction
 */
public record Source(
    String name, DatabaseSettings settings, Database database, boolean isGateway) {}
