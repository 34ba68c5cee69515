package dev.coatcheck.api.console.find;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.FormPage;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.ErasureRoutes;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.ending.EraseOutcome;
import dev.coatcheck.ids.ending.Erasure;
import dev.coatcheck.ids.ending.Erasures;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.Optional;

/**
 * Erases a public ID, {@code /console/ids/{id}/erase}, after its text was typed once more; and says
 * whether an erasure is complete, {@code /console/ids/{id}/erasure}.
 */
final class ErasePage implements FormPage<String> {
  private static final String ONE = "/console/ids/{id}/";
  private static final String CASCADE = "cascade";

  private final Gate gate;
  private final Erasures erasures;
  private final Resolver resolver;

  ErasePage(Gate gate, Erasures erasures, Resolver resolver) {
    this.gate = gate;
    this.erasures = erasures;
    this.resolver = resolver;
  }

  void register(Endpoints endpoints) {
    gate.register(endpoints, ONE + "erase", Scope.IDS_END, this);
    endpoints.page(HandlerType.GET, ONE + "erasure", gate.page(this::state));
  }

  /**
   * @param isActive whether it can be revoked instead
   * @param isSurvivor whether public IDs were merged into it, as the last try has found
   */
  record View(
      Frame frame,
      String id,
      boolean isActive,
      boolean isSurvivor,
      Form form,
      String formToken,
      String fault) {}

  /** The public ID, which may be ended: its mapping is kept until it is erased. */
  @Override
  public String subject(Context ctx, Visit visit) {
    String id = ctx.pathParam("id");
    switch (erasures.find(id, visit.types())) {
      case EraseOutcome.NotErased _ -> {
        return id;
      }
      case EraseOutcome.Erased _ -> throw new Refusal(Problem.erased("id"));
      case EraseOutcome.Refused refused -> throw new Refusal(ErasureRoutes.problem(refused));
    }
  }

  @Override
  public Html.Template page(Visit visit, String id, Form form, Optional<Problem> fault) {
    View view =
        new View(
            visit.frame(Section.FIND, "Erase " + id),
            id,
            resolver.resolve(id, visit.types()) instanceof ResolveOutcome.Found,
            form.isTicked(CASCADE)
                || fault.map(Problem::code).equals(Optional.of(ProblemCode.PUBLIC_ID_IS_SURVIVOR)),
            form,
            visit.formToken(),
            fault.map(Problem::detail).orElse(""));
    return (out, none) -> JteeraseGenerated.render(out, none, view);
  }

  @Override
  public Answer change(Visit visit, String id, Form form) {
    if (!form.sent("confirmation").equals(id)) {
      throw new Refusal(
          ProblemCode.FIELD_INVALID,
          "confirmation",
          "Type the public ID exactly as it is shown. Nothing was done.");
    }
    return switch (erasures.erase(id, form.isTicked(CASCADE), visit.types(), visit.actor())) {
      case EraseOutcome.Erased(Erasure erasure) -> Html.seeOther(path(erasure.id().toString()));
      case EraseOutcome.Survivor(int merged) ->
          throw new Refusal(
              ProblemCode.PUBLIC_ID_IS_SURVIVOR,
              CASCADE,
              merged
                  + (merged == 1 ? " public ID was" : " public IDs were")
                  + " merged into this one, and would have no survivor. Tick the box to erase them"
                  + " too. Nothing was done.");
      case EraseOutcome.Refused refused -> throw new Refusal(ErasureRoutes.problem(refused));
    };
  }

  /** The page of an erasure. */
  static String path(String id) {
    return "/console/ids/" + id + "/erasure";
  }

  private Answer state(Context ctx, Visit visit) {
    Query.none(ctx);
    Gate.require(visit, Scope.IDS_READ);
    return switch (erasures.find(ctx.pathParam("id"), visit.types())) {
      case EraseOutcome.Erased(Erasure erasure) -> {
        Frame frame = visit.frame(Section.FIND, "Erasure of " + erasure.id());
        yield Html.page(200, (out, none) -> JteerasureGenerated.render(out, none, frame, erasure));
      }
      case EraseOutcome.NotErased _ ->
          throw new Refusal(ProblemCode.NOT_FOUND, "This public ID is not erased.");
      case EraseOutcome.Refused refused -> throw new Refusal(ErasureRoutes.problem(refused));
    };
  }
}
