package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.run.NewKeys;
import dev.coatcheck.migrate.run.SwitchWindow;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.table.Phase;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Fields of requests about runs, which forms have too; refuses malformed ones. */
public final class RunFields {
  private static final Pattern CODE = Pattern.compile("[a-z][a-z0-9_]{0,63}");

  private static final String PHASES =
      Arrays.stream(Phase.values())
          .filter(Phase::leavesTraces)
          .map(Phase::wireName)
          .collect(Collectors.joining(", ", "The phases that can be undone are ", "."));

  private RunFields() {}

  /** The table of a run, as requests write it. */
  public static String table(TableMigration run) {
    return TableText.of(run.target().table());
  }

  /** Whether a text is the name of the run's table, which confirms what can't be undone. */
  public static boolean isConfirmed(String typed, TableMigration run) {
    return typed.equals(table(run));
  }

  /** The codes of preconditions. */
  public static List<String> accepted(List<String> codes) {
    if (!codes.stream().allMatch(code -> CODE.matcher(code).matches())) {
      throw invalid("accept", "Send codes of preconditions.");
    }
    return codes;
  }

  public static SwitchWindow window(Optional<Instant> notBefore, Optional<Instant> notAfter) {
    if (notAfter.filter(closes -> !closes.isAfter(notBefore.orElse(Instant.MIN))).isPresent()) {
      throw invalid("not_after", "The window must end after it begins.");
    }
    return new SwitchWindow(notBefore, notAfter);
  }

  public static Phase undoPhase(String name) {
    return WireNamed.find(Phase.class, name)
        .filter(Phase::leavesTraces)
        .orElseThrow(() -> invalid("phase", PHASES));
  }

  public static NewKeys newKeys(String name) {
    return WireNamed.find(NewKeys.class, name)
        .orElseThrow(() -> invalid("new_keys", RetirementView.NEW_KEYS));
  }

  public static SearchPath searchPath(String text) {
    return SearchPath.parse(text)
        .orElseThrow(
            () ->
                invalid(
                    "application_search_path",
                    "Write the path as SHOW search_path prints it: names of schemas, separated by"
                        + " commas."));
  }

  private static Refusal invalid(String field, String detail) {
    return new Refusal(ProblemCode.FIELD_INVALID, field, detail);
  }
}
