package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.SqlStatement.Name;
import dev.coatcheck.migrate.plan.SqlStatement.Role;
import dev.coatcheck.migrate.plan.SqlStatement.Star;
import dev.coatcheck.migrate.plan.SqlStatement.Use;
import java.util.Optional;

/** The state of a {@link StatementReader} within one pair of parentheses, or outside of all. */
final class SqlScope {
  enum Clause {
    NONE,
    SELECT,
    FROM,
    TARGET,
    VALUES,
    RETURNING,
    GROUP_BY,
    ON,
    OTHER
  }

  final int group;
  final int level;
  int select;
  Clause clause;
  Role role = Role.READ;
  Optional<Use> target = Optional.empty();
  boolean isDistinctOn;

  /** Where the list after DISTINCT ON begins. */
  int firstItem = -1;

  SqlScope(int group, int level, int select, Clause clause) {
    this.group = group;
    this.level = level;
    this.select = select;
    this.clause = clause;
  }

  /** Parentheses that only group what is around them. */
  SqlScope grouping(Clause within) {
    return new SqlScope(group, level, select, within);
  }

  Use use(Name name, Optional<String> alias) {
    return new Use(name, alias, role, select, group, level);
  }

  Star star(Optional<String> of, boolean isReturning) {
    return new Star(of, isReturning, target, select, group, level);
  }
}
