package dev.coatcheck.migrate.plan;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableSpec;
import java.util.Optional;

/**
 * A request for a plan: the table, and the type of its rows.
 *
 * @param applicationPath the search path of the sessions that write to the table; if empty, the one
 *     in the settings of the table's owner
 */
public record PlanRequest(
    String source, TableSpec table, Type type, Optional<SearchPath> applicationPath) {}
