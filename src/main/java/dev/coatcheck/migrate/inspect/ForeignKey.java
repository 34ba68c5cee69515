package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.source.TableName;
import java.util.List;

/**
 * A foreign key of one column that refers to the key of a table.
 *
 * @param childOid by which the child is found, whatever it is called
 * @param columns of the child
 * @param isSelfReference the child is the table itself
 * @param childText the child as statements name it, quoted where that is needed
 */
public record ForeignKey(
    long childOid,
    TableName child,
    List<String> columns,
    String constraint,
    boolean isDeferrable,
    boolean isSelfReference,
    String childText) {}
