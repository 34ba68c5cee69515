package dev.coatcheck.http;

import io.javalin.http.Context;

/** Sends a body that went well. */
final class Answer {
  private Answer() {}

  static void json(Context ctx, int status, Object body) {
    ctx.status(status)
        .header("Cache-Control", "no-store")
        .contentType("application/json")
        .result(Json.write(body));
  }
}
