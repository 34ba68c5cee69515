package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.ending.EraseOutcome;
import dev.coatcheck.ids.ending.Erasure;
import dev.coatcheck.ids.ending.Erasures;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Erases public IDs, and shows when an erasure is complete: {@code /v1/ids/{id}/erase}. */
public final class ErasureRoutes implements Routes {
  private static final String PATH = "/v1/ids/{id}/erase";
  private static final String CASCADE = "cascade";

  private final Erasures erasures;

  public ErasureRoutes(Erasures erasures) {
    this.erasures = erasures;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.bodiless(HandlerType.POST, PATH, Scope.IDS_END, this::erase);
    endpoints.secured(HandlerType.GET, PATH, Scope.IDS_READ, this::find);
  }

  /**
   * @param completeAt null while a source has not answered
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ErasureView(
      String object,
      String id,
      String type,
      String status,
      Instant erasedAt,
      @Nullable Instant completeAt,
      List<String> waitsFor) {
    static ErasureView of(Erasure erasure) {
      return new ErasureView(
          "erasure",
          erasure.id().toString(),
          erasure.type().name(),
          Mapping.Status.ERASED.wireName(),
          erasure.erasedAt(),
          erasure.completeAt().orElse(null),
          erasure.waitsFor());
    }
  }

  private Answer erase(Context ctx) {
    boolean cascade = Query.of(ctx, CASCADE).bool(CASCADE);
    IdempotencyHeader.refuse(
        ctx, "Send no Idempotency-Key: to erase a public ID again changes nothing.");
    return answer(
        erasures.erase(
            ctx.pathParam("id"), cascade, RequestCaller.types(ctx), RequestCaller.actor(ctx)));
  }

  private Answer find(Context ctx) {
    Query.none(ctx);
    return answer(erasures.find(ctx.pathParam("id"), RequestCaller.types(ctx)));
  }

  private static Answer answer(EraseOutcome outcome) {
    return switch (outcome) {
      case EraseOutcome.Erased(Erasure erasure) -> Answer.json(200, ErasureView.of(erasure));
      case EraseOutcome.Refused refused -> Answer.of(problem(refused));
    };
  }

  /** Why a public ID is not erased. */
  public static Problem problem(EraseOutcome.Refused outcome) {
    return switch (outcome) {
      case EraseOutcome.OfErasedAlias _ -> Problem.erased("id");
      case EraseOutcome.Unissued(ResolveOutcome.Unissued why) -> IdProblems.unissued("id", why);
      case EraseOutcome.NotErased _ ->
          Problem.of(
              ProblemCode.NOT_FOUND,
              "This public ID is not erased. POST to the same path erases it.");
      case EraseOutcome.Survivor(int merged) ->
          Problem.at(
              ProblemCode.PUBLIC_ID_IS_SURVIVOR,
              CASCADE,
              merged
                  + (merged == 1 ? " public ID was" : " public IDs were")
                  + " merged into this one, and would have no survivor. Send cascade=true to"
                  + " erase them too. Nothing was done.");
      case EraseOutcome.TooManyMerged _ ->
          Problem.at(
              ProblemCode.PUBLIC_ID_IS_SURVIVOR,
              "id",
              "More than 1,000 public IDs were merged into this one. Erase those first. Nothing"
                  + " was done.");
      case EraseOutcome.Sealed _ ->
          Problem.at(
              ProblemCode.TYPE_SEALED,
              "id",
              "A sealed public ID is its key, enciphered: there is nothing to erase. Revoke it"
                  + " instead. Nothing was done.");
      case EraseOutcome.SealKeyKept(String fingerprint) ->
          Problem.at(
              ProblemCode.TYPE_SEALED,
              "id",
              "The seal key "
                  + fingerprint
                  + " still tells the key of this public ID. Destroy the seal key: delete it from"
                  + " the file of every instance and restart them. Nothing was done.");
      case EraseOutcome.Busy _ ->
          Problem.busy(
              "Another transaction uses this public ID. Nothing was done; send the same request"
                  + " again.");
      case EraseOutcome.Overloaded _ ->
          Problem.unavailable(
              ProblemCode.OVERLOADED,
              "Too many erasures are waiting. Nothing was done; send the same request again.");
    };
  }
}
