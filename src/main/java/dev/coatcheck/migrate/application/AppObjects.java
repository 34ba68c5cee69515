package dev.coatcheck.migrate.application;

import java.util.List;

/**
 * What a table's catalog entries tell about its applications.
 *
 * @param updateTriggers those that fire for each row that the backfill fills
 * @param grantedColumns columns with grants of their own
 */
public record AppObjects(
    List<AppFunction> functions, List<UpdateTrigger> updateTriggers, List<String> grantedColumns) {}
