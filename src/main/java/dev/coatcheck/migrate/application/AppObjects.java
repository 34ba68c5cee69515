package dev.coatcheck.migrate.application;

import java.util.List;

/**
 * What a table's catalog entries tell about its applications.
 *
 * @param updateTriggers those that fire for each row that the backfill fills
 * @param grantedColumns columns with grants of their own
 * @param rowColumns columns of other tables and of composite types that hold rows of the table
 */
public record AppObjects(
    List<AppFunction> functions,
    List<UpdateTrigger> updateTriggers,
    List<String> grantedColumns,
    List<String> rowColumns) {}
