package dev.coatcheck.migrate.application;

import java.util.List;

/**
 * A function of the customer's that uses a table or its row type.
 *
 * @param body at most 100,000 characters of it
 * @param isParsed it was written with BEGIN ATOMIC, so Postgres replaced its stars by columns when
 *     the function was created
 * @param triggers those of the table that call it
 * @param returnsRow it returns the type of the table's rows, or a set or an array of it
 * @param returnsColumns it returns a set of named columns
 * @param rowArguments its arguments of the type of the table's rows, by name or as {@code $1}
 */
public record AppFunction(
    String name,
    String language,
    String body,
    boolean isParsed,
    List<String> triggers,
    boolean returnsRow,
    boolean returnsColumns,
    List<String> rowArguments) {}
