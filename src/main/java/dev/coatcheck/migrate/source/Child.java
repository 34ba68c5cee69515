package dev.coatcheck.migrate.source;

import java.util.List;
import java.util.function.Predicate;

/**
 * A column with a foreign key to the legacy IDs. It gets a twin that refers to the new keys. Table
 * and column have their current names.
 *
 * @param oid of the table
 * @param attnum of the column
 * @param label the first name of the column, with its table, and with its numbers if another child
 *     had that name before; steps and our objects are named after it
 * @param reference the name of the twin
 * @param leaves the tables with its rows: its partitions, or the table itself
 * @param rules of the foreign key: on delete, on update, and whether it is deferrable; for foreign
 *     keys of partitions only whether any of them sets a default
 */
public record Child(
    long oid,
    int attnum,
    String label,
    TableName table,
    String column,
    String reference,
    String rules,
    List<Leaf> leaves) {
  public Child {
    leaves = List.copyOf(leaves);
  }

  public record Leaf(long oid, TableName table) {}

  static Child of(
      long oid, int attnum, TableName table, String column, String rules, List<Leaf> leaves) {
    String label = table.text() + "." + column;
    return new Child(
        oid, attnum, label, table, column, twin(column + "_" + Target.NEW_COLUMN), rules, leaves);
  }

  private static String twin(String name) {
    return ObjectNames.bytes(name) <= ObjectNames.BYTES_MAX ? name : ObjectNames.shortened(name);
  }

  /** With names of its own, if others may have objects of the run under its names. */
  public Child beside(List<Child> others, Predicate<String> isTaken) {
    boolean isLabelTaken =
        isTaken.test(label) || others.stream().anyMatch(other -> other.label.equals(label));
    boolean isTwinTaken =
        others.stream().anyMatch(other -> other.oid == oid && other.reference.equals(reference));
    return new Child(
        oid,
        attnum,
        isLabelTaken ? "%s %d.%d".formatted(label, oid, attnum) : label,
        table,
        column,
        isTwinTaken ? twin(column + "_" + attnum + "_" + Target.NEW_COLUMN) : reference,
        rules,
        leaves);
  }

  public boolean isPartitioned() {
    return leaves.stream().noneMatch(leaf -> leaf.oid() == oid);
  }

  /** Whether it combines the rules of several partitions. */
  private boolean isOfPartitions() {
    return rules.length() == 1;
  }

  Child renamed(TableName tableNow, String columnNow, List<Leaf> leavesNow) {
    return new Child(oid, attnum, label, tableNow, columnNow, reference, rules, leavesNow);
  }

  Child withRules(String rulesNow) {
    return new Child(oid, attnum, label, table, column, reference, rulesNow, leaves);
  }

  public boolean isSameColumn(Child other) {
    return oid == other.oid && attnum == other.attnum;
  }

  /** Whether it is the same foreign key of the same column. */
  boolean isLike(Child other) {
    return isSameColumn(other)
        && (rules.equals(other.rules) || isOfPartitions() || other.isOfPartitions());
  }
}
