package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import io.javalin.http.Context;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The header {@code Idempotency-Key}: a structured field's string in quotes, or the same bare. The
 * edge has seen to it that there is one at most, of 1 to 255 ASCII characters.
 */
final class IdempotencyHeader {
  static final String NAME = "Idempotency-Key";

  private static final Pattern QUOTED = Pattern.compile("\"((?:[^\"\\\\]|\\\\[\"\\\\])+)\"");
  private static final Pattern BARE = Pattern.compile("[!#-~](?:[ !#-~]*[!#-~])?");

  private IdempotencyHeader() {}

  /** The key of a request on a secured route; it belongs to who makes it. */
  static Optional<IdempotencyKey> read(Context ctx) {
    return Optional.ofNullable(ctx.header(NAME))
        .map(text -> new IdempotencyKey(Endpoints.caller(ctx).principal(), parse(text)));
  }

  static String parse(String text) {
    var quoted = QUOTED.matcher(text);
    if (quoted.matches()) {
      return quoted.group(1).replaceAll("\\\\(.)", "$1");
    }
    if (BARE.matcher(text).matches()) {
      return text;
    }
    throw new Refusal(
        Problem.at(
            ProblemCode.HEADER_INVALID,
            NAME,
            "Send 1 to 255 visible ASCII characters without quotes, or all of it in quotes."));
  }
}
