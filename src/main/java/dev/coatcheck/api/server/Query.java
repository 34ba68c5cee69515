package dev.coatcheck.api.server;

import io.javalin.http.Context;
import java.util.Set;

/** The query of a request, of which only what a route knows may be there. */
public final class Query {
  private Query() {}

  /** Refuses query parameters that the route doesn't know, and any that is given twice. */
  public static void allow(Context ctx, String... names) {
    Set<String> allowed = Set.of(names);
    ctx.queryParamMap()
        .forEach(
            (name, values) -> {
              if (!allowed.contains(name)) {
                throw new Refusal(
                    Problem.of(
                        ProblemCode.PARAMETER_UNKNOWN,
                        allowed.isEmpty()
                            ? "There are no query parameters here."
                            : "Only these are known here: "
                                + String.join(", ", allowed.stream().sorted().toList())
                                + "."));
              }
              if (values.size() > 1) {
                throw Refusal.ofParameter(name, "Send this once.");
              }
            });
  }
}
