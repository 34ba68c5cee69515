package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.migrate.source.Diagnostic;
import java.util.List;

/** Why nothing was done, as a form says it. */
final class FaultText {
  private FaultText() {}

  static String detail(Problem problem) {
    return switch (problem.members()) {
      case Problem.NotAccepted _ ->
          "Nothing was done. Meet each of these preconditions, then tick its box.";
      case Problem.RefusedTable _ -> "Nothing was changed. Each entry says what to do.";
      default -> problem.detail();
    };
  }

  /** The reasons one by one; empty if the detail says it all. */
  static List<Diagnostic> reasons(Problem problem) {
    return switch (problem.members()) {
      case Problem.NotAccepted(List<Diagnostic> missing) -> missing;
      case Problem.RefusedTable(List<Diagnostic> refusals) -> refusals;
      default -> List.of();
    };
  }
}
