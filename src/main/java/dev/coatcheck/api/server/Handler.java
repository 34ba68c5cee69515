package dev.coatcheck.api.server;

import dev.coatcheck.api.exchange.Answer;
import io.javalin.http.Context;

/**
 * Answers the requests of one operation: parses, calls one verb, and turns its outcome into an
 * answer. Throws a {@link dev.coatcheck.api.exchange.Refusal} if the request can't be parsed.
 */
@FunctionalInterface
public interface Handler {
  Answer answer(Context ctx) throws Exception;
}
