package dev.coatcheck.api.server;

import io.javalin.http.Context;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * An answer before it is sent: what both doors have in common, so that nobody can tell through
 * which one a request went.
 */
public final class Answer {
  private static final HttpField NO_STORE = new HttpField(HttpHeader.CACHE_CONTROL, "no-store");

  private final int status;
  private final String contentType;
  private final List<HttpField> headers;
  private final byte[] body;

  /** Takes all headers but Content-Type and Content-Length. */
  public Answer(int status, String contentType, List<HttpField> headers, byte[] body) {
    this.status = status;
    this.contentType = contentType;
    this.headers = headers;
    this.body = body;
  }

  public static Answer json(int status, Object body) {
    return new Answer(status, "application/json", List.of(NO_STORE), Json.write(body));
  }

  /** One whose headers say it all. */
  public static Answer empty(int status) {
    return new Answer(status, "text/plain", List.of(NO_STORE), new byte[0]);
  }

  public static void json(Context ctx, int status, Object body) {
    json(status, body).send(ctx);
  }

  /** The same with one more header. */
  public Answer with(String name, String value) {
    return with(List.of(new HttpField(name, value)));
  }

  /** The same with further headers. */
  public Answer with(List<HttpField> more) {
    return new Answer(
        status, contentType, Stream.concat(headers.stream(), more.stream()).toList(), body);
  }

  /** One that was sent before, from its status and its body. */
  public static Answer recorded(int status, String body) {
    return new Answer(
        status,
        status < 400 ? "application/json" : Problems.CONTENT_TYPE,
        List.of(NO_STORE),
        body.getBytes(StandardCharsets.UTF_8));
  }

  public int status() {
    return status;
  }

  /** As text; every body of ours is UTF-8. */
  public String body() {
    return new String(body, StandardCharsets.UTF_8);
  }

  /** Through Javalin. */
  public void send(Context ctx) {
    ctx.status(status).contentType(contentType);
    headers.forEach(header -> ctx.header(header.getName(), header.getValue()));
    ctx.result(body);
  }

  /**
   * Without a servlet around it. Does not wait: Jetty keeps what the client doesn't take at once.
   */
  public void send(Response response, Callback callback, boolean bodyless) {
    response.setStatus(status);
    HttpFields.Mutable fields = response.getHeaders();
    fields.put(HttpHeader.CONTENT_TYPE, contentType);
    headers.forEach(fields::put);
    fields.put(HttpHeader.CONTENT_LENGTH, body.length);
    response.write(true, bodyless ? null : ByteBuffer.wrap(body), callback);
  }
}
