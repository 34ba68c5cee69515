package dev.coatcheck.migrate.plan;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableSpec;
import java.util.Optional;

/**
 * A request for a plan: the table, and the type of its rows.
 *
 * @param applicationPath of the sessions that write to it; empty: that of its owner's settings
 */
public record PlanRequest(
    String source, TableSpec table, Type type, Optional<SearchPath> applicationPath) {}
