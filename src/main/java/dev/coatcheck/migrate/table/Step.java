package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.Child;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** One reversible part of a phase. The source itself shows whether it is applied. */
public sealed interface Step {
  /** The step that creates the objects outside of the table, such as the outbox. */
  String PREPARE = "prepare";

  /** The step after which every new row has a key. */
  String DUAL_WRITE = "dual-write";

  /** The step that gives a column of a child its twin. */
  String CHILD_COLUMN = "child-column";

  /** The step that builds the index that the switch consumes. */
  String NEW_PK = "new-pk";

  String PRIMARY_KEY = "primary-key";

  String DROP_COLUMNS = "drop-old-columns";

  Phase phase();

  /** Unique within the phase. */
  String name();

  /** The statements of {@code apply}, for display before it runs. */
  default List<String> statements() {
    return List.of();
  }

  default List<String> undoStatements() {
    return List.of();
  }

  /**
   * Short statements in one transaction, retried while another session holds the lock.
   *
   * @param check a query for whether the step is applied
   */
  record Ddl(
      Phase phase, String name, List<String> statements, List<String> undoStatements, String check)
      implements Step {
    public Ddl {
      statements = List.copyOf(statements);
      undoStatements = List.copyOf(undoStatements);
    }
  }

  /**
   * An index that is built while the table is written to.
   *
   * @param table the OID of its table
   * @param index its name in the catalog, in the schema of the table
   * @param turn waits until no other session builds an index on the table
   * @param whole that of the partitioned table, if the table is a partition
   * @param release what an undo sends first, in one transaction, to free the index of foreign keys
   * @param options a query for what replaces {@link #OPTIONS} in {@code create}
   */
  record Index(
      Phase phase,
      String name,
      long table,
      String index,
      String whole,
      boolean isUnique,
      String turn,
      String create,
      List<String> release,
      String drop,
      Optional<String> options)
      implements Step {
    /** A comment, for people who read the statement before it is sent. */
    static final String OPTIONS = " /* include, with and tablespace as the primary key has them */";

    public Index {
      release = List.copyOf(release);
    }

    @Override
    public List<String> statements() {
      return List.of(create);
    }

    @Override
    public List<String> undoStatements() {
      return Stream.concat(release.stream(), Stream.of(drop)).toList();
    }
  }

  /**
   * An index with which an undo can move the primary key back at once. An undo builds it if it is
   * missing, and consumes it; after the undo it has no use.
   *
   * @param isNeeded a query for whether an undo would use it
   */
  record Spare(Index index, String isNeeded) implements Step {
    @Override
    public Phase phase() {
      return index.phase();
    }

    @Override
    public String name() {
      return index.name();
    }

    @Override
    public List<String> statements() {
      return index.statements();
    }
  }

  /**
   * Lets the server validate the foreign keys that an earlier step, or an undo, has added as not
   * valid.
   *
   * @param open a query for the statements still to be sent
   */
  record Validate(Phase phase, String open) implements Step {
    @Override
    public String name() {
      return "validate-foreign-keys";
    }
  }

  /**
   * Adds the foreign keys to partitioned tables that their partitions already have, in both
   * directions.
   *
   * @param isOpen a query for whether there is such a table
   */
  record Merge(Phase phase, List<String> statements, String isOpen) implements Step {
    public Merge {
      statements = List.copyOf(statements);
    }

    @Override
    public String name() {
      return "merge-foreign-keys";
    }
  }

  /**
   * A check that every row has a key. It stays unvalidated on the table only while its run is
   * working on it, because such a check refuses updates of old rows that violate it.
   *
   * @param create in one transaction; fails if there is a row without a key after {@link #AFTER_ID}
   * @param isApplied a query for whether the check holds for every row
   * @param isThere a query for whether the check is on the table
   * @param highest a query for the highest legacy ID
   * @param broken a query for the legacy IDs of the first rows after a given one that violate it
   * @param child whose twin is checked; empty: the new column of the table itself
   */
  record NotNullCheck(
      Phase phase,
      String name,
      List<String> create,
      String validate,
      List<String> drop,
      String isApplied,
      String isThere,
      String highest,
      String broken,
      Optional<Child> child)
      implements Step {
    /** Stands for a legacy ID in {@code create}. */
    static final String AFTER_ID = "AFTER_ID";

    public NotNullCheck {
      create = List.copyOf(create);
      drop = List.copyOf(drop);
    }

    List<String> createAfter(long id) {
      return create.stream().map(text -> text.replace(AFTER_ID, Long.toString(id))).toList();
    }

    @Override
    public List<String> statements() {
      return Stream.concat(create.stream(), Stream.of(validate)).toList();
    }

    @Override
    public List<String> undoStatements() {
      return drop;
    }
  }

  /**
   * Gives old rows their keys, batch by batch. Its undo is that of the new column.
   *
   * @param child whose twin is filled; empty: the new column of the table itself
   */
  record Fill(Phase phase, String name, List<String> statements, Optional<Child> child)
      implements Step {
    public Fill {
      statements = List.copyOf(statements);
    }
  }

  /**
   * Archives all keys before they are lost: when the phase expand is undone, and when the phase
   * contract is applied.
   *
   * @param begin from then on the triggers archive too
   * @param end from then on they don't
   */
  record Archive(Phase phase, List<String> begin, List<String> end) implements Step {
    public Archive {
      begin = List.copyOf(begin);
      end = List.copyOf(end);
    }

    public boolean isForward() {
      return phase == Phase.CONTRACT;
    }

    @Override
    public String name() {
      return "archive";
    }

    @Override
    public List<String> statements() {
      return isForward() ? begin : List.of();
    }

    @Override
    public List<String> undoStatements() {
      return isForward() ? end : begin;
    }
  }

  /** Compares the table, its children and the mappings, and changes nothing. */
  record Verify() implements Step {
    @Override
    public Phase phase() {
      return Phase.VERIFY;
    }

    @Override
    public String name() {
      return "verify";
    }
  }
}
