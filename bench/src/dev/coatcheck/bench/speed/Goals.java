package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.baseline.PostgresBaselines;
import dev.coatcheck.bench.report.Goal;
import java.util.Optional;

/** Which goals a run can judge: they are set for 64 connections. */
record Goals(int connections) {
  static final int CONNECTIONS = 64;

  /** A goal that needs nothing but these connections. */
  Optional<Goal> at(Goal goal) {
    return connections == CONNECTIONS ? Optional.of(goal) : Optional.empty();
  }

  /** A goal whose baseline is pgbench. */
  Optional<Goal> against(Goal goal) {
    return PostgresBaselines.hasPgbench() ? at(goal) : Optional.empty();
  }
}
