package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.Database;

/**
 * A Postgres with tables of customers.
 *
 * @param name in requests
 * @param settings for connections outside of the pool
 * @param isGateway whether it is the gateway's own database, so that rows and mappings share a
 *     transaction
 * @param timeouts with a network that drops all packets
 */
public record Source(
    String name,
    DatabaseSettings settings,
    Database database,
    boolean isGateway,
    WatchTimeouts timeouts) {}
