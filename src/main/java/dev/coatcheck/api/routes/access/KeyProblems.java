package dev.coatcheck.api.routes.access;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.Scope;

/** Why API keys are not made, changed or shown. */
public final class KeyProblems {
  private KeyProblems() {}

  public static Problem of(KeyOutcome.Refused outcome) {
    return switch (outcome) {
      case KeyOutcome.Unknown _ -> unknown();
      case KeyOutcome.CallerEnded _ -> Endpoints.refusal(new AccessDecision.Unauthenticated());
      case KeyOutcome.CallerLacksScope _ ->
          Endpoints.refusal(new AccessDecision.Forbidden(Scope.ACCESS_ADMIN));
      case KeyOutcome.BeyondCaller(String field) ->
          Problem.at(
              ProblemCode.RIGHTS_EXCEEDED,
              field,
              "Your API key must have every right of the key itself, before the change and after"
                  + " it.");
      case KeyOutcome.PrincipalTaken _ ->
          Problem.at(
              ProblemCode.PRINCIPAL_TAKEN,
              "principal",
              "Another API key has or had this principal. Send that of your key, or a new one.");
      case KeyOutcome.TypeUnknown _ -> Parameters.typeUnknown("types");
      case KeyOutcome.ExpiryPassed _ ->
          Problem.at(
              ProblemCode.FIELD_INVALID,
              "expires_at",
              "This time has passed. Send a later one; POST /v1/access/keys/{id}/revoke ends a key"
                  + " now.");
      case KeyOutcome.Ended _ ->
          Problem.at(
              ProblemCode.API_KEY_ENDED,
              "id",
              "The API key was revoked or has expired, for good. Create another one.");
      case KeyOutcome.AlreadyRotated _ ->
          Problem.at(
              ProblemCode.API_KEY_ROTATED,
              "id",
              "The API key was rotated before, and its successor is in force. Rotate that one.");
      case KeyOutcome.VersionDiffers _ ->
          Problem.at(
              ProblemCode.PRECONDITION_FAILED,
              "If-Match",
              "The API key has changed. Read it again and repeat the change.");
    };
  }

  public static Problem unknown() {
    return Problem.at(
        ProblemCode.API_KEY_UNKNOWN,
        "id",
        "No API key has this ID. GET /v1/access/keys lists the keys.");
  }

  /**
   * The rights of a key name types, so a caller for some types sees keys for no others.
   *
   * @param shownId {@code key_…}, or any text
   * @throws Refusal if the caller may not see the key
   */
  public static void requireAllowed(String shownId, ApiKeys keys, AllowedTypes allowed) {
    if (!allowed.areAll()
        && ApiKey.idOf(shownId).flatMap(keys::find).filter(key -> isFor(allowed, key)).isEmpty()) {
      throw new Refusal(Problem.typeNotAllowed());
    }
  }

  /** Whether the key is for none but allowed types. */
  static boolean isFor(AllowedTypes allowed, ApiKeys.Listed key) {
    return allowed.areAll()
        || key.key()
            .rights()
            .types()
            .filter(all -> all.stream().allMatch(allowed::hold))
            .isPresent();
  }
}
