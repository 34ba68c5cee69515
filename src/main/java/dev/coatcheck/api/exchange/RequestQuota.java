package dev.coatcheck.api.exchange;

import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.TokenBuckets.Taken;
import io.javalin.http.Context;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/**
 * The quota from which a request takes, stored in it: several handlers ask for its caller, and it
 * counts once.
 *
 * <p>The headers are those of draft-ietf-httpapi-ratelimit-headers-10. Only an answer that leaves
 * half of the quota or less has them. The draft leaves this to servers, for the sake of their
 * performance: two more headers in each answer take more CPU than counting does.
 */
public final class RequestQuota {
  private static final String NAME = "quota";
  private static final String HEADER = "RateLimit";

  private final Policy policy;
  private final RateLimit limit;
  private final Bucket bucket;
  private final HttpField policies;

  /** What a quota belongs to, and its name in headers and problems. */
  public enum Policy {
    KEY("key", "This API key has used up its quota."),
    ADDRESS("address", "This address has used up the quota of requests without a valid API key.");

    private final String name;
    private final String exceeded;

    Policy(String name, String exceeded) {
      this.name = name;
      this.exceeded = exceeded;
    }
  }

  /** Where the tokens of the request come from. */
  @FunctionalInterface
  public interface Bucket {
    /**
     * Takes the tokens of the request.
     *
     * @param requests as how many it counts
     * @param taken how many of them were taken before
     */
    Taken take(int requests, int taken);
  }

  /**
   * @param policies all quotas of the caller
   */
  public RequestQuota(Policy policy, RateLimit limit, Bucket bucket, HttpField policies) {
    this.policy = policy;
    this.limit = limit;
    this.bucket = bucket;
    this.policies = policies;
  }

  public static boolean isCounted(Request request) {
    return request.getAttribute(NAME) != null;
  }

  /** A quota as the header lists it. */
  public static String policy(Policy policy, RateLimit limit) {
    return "\"" + policy.name + "\";q=" + limit.requests() + ";w=" + limit.seconds();
  }

  /** The header that lists the quotas of a caller; encoded once, since all its answers have it. */
  public static HttpField policies(String listed) {
    return new PreEncodedHttpField("RateLimit-Policy", listed);
  }

  /** Counts a request. Returns the answer if nothing was left. */
  public Optional<Problem> count(Request request, Response response) {
    request.setAttribute(NAME, this);
    Taken taken = bucket.take(1, 0);
    tell(taken, response);
    return refusal(taken);
  }

  /**
   * Counts the items of a batch, each as a request.
   *
   * @throws Refusal if that is too many
   */
  public static void countItems(Context ctx, int items) {
    if (items > 1 && ctx.req().getAttribute(NAME) instanceof RequestQuota quota) {
      quota.countItems(items, RequestAccess.request(ctx).getServletContextResponse());
    }
  }

  private void countItems(int items, Response response) {
    if (items > limit.requests()) {
      response.getHeaders().put(policies);
      throw new Refusal(
          ProblemCode.BATCH_EXCEEDS_QUOTA,
          "The batch has more items than the quota has requests. Send at most %s items in a batch."
              .formatted(limit.requests()));
    }
    Taken taken = bucket.take(items, 1);
    tell(taken, response);
    refusal(taken)
        .ifPresent(
            problem -> {
              throw new Refusal(problem);
            });
  }

  private void tell(Taken taken, Response response) {
    switch (taken) {
      case Taken.Granted(int left, int fullSeconds) -> {
        if (left <= limit.requests() / 2) {
          tell(left, fullSeconds, response);
        }
      }
      case Taken.Refused(int left, int waitSeconds) -> tell(left, waitSeconds, response);
    }
  }

  private void tell(int left, int seconds, Response response) {
    String rest = "\"" + policy.name + "\";r=" + left + ";t=" + seconds;
    response.getHeaders().put(policies).put(HEADER, rest);
  }

  private Optional<Problem> refusal(Taken taken) {
    return switch (taken) {
      case Taken.Granted _ -> Optional.empty();
      case Taken.Refused(_, int waitSeconds) ->
          Optional.of(
              Problem.overQuota(
                  policy.name,
                  policy.exceeded + " Nothing was done; wait as long as Retry-After says.",
                  waitSeconds));
    };
  }
}
