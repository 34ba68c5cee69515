package dev.coatcheck.api.exchange;

import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.core.json.JsonObject;
import io.javalin.http.Context;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * The body of a request: one JSON object, or the request is refused. The body was collected before
 * the handler is called.
 */
public final class RequestBody {
  /** Maximum of a request for a single item, in bytes. */
  public static final int BYTES_MAX = 64 * 1024;

  /** Maximum of a form, in bytes: a browser makes up to three of each byte of a JSON text. */
  public static final int FORM_BYTES_MAX = 3 * BYTES_MAX;

  /** Maximum of a batch, in bytes. */
  public static final int BATCH_BYTES_MAX = 1024 * 1024;

  /** What a body is sent as. */
  public static final Set<String> JSON = Set.of("application/json");

  /** What a JSON merge patch, RFC 7396, is sent as. */
  public static final Set<String> MERGE_PATCH =
      Set.of("application/merge-patch+json", "application/json");

  /** What the form of a page is sent as. */
  public static final Set<String> FORM = Set.of("application/x-www-form-urlencoded");

  private static final String ATTRIBUTE = "body";
  private static final byte[] NOTHING = "{}".getBytes(StandardCharsets.UTF_8);

  private final JsonObject object;
  private final JsonNode node;
  private final byte[] bytes;

  private RequestBody(byte[] bytes) {
    this.node = parse(bytes);
    this.object = JsonObject.of(node);
    this.bytes = bytes;
  }

  /** A body whose media type was checked before. */
  public static RequestBody of(byte[] bytes) {
    return new RequestBody(bytes);
  }

  public static RequestBody read(Context ctx) {
    return read(ctx, JSON);
  }

  public static RequestBody readMergePatch(Context ctx) {
    return read(ctx, MERGE_PATCH);
  }

  private static RequestBody read(Context ctx, Set<String> mediaTypes) {
    requireType(ctx, mediaTypes);
    return new RequestBody(bytes(ctx));
  }

  /** Like {@link #read}; a missing body counts as an empty object. */
  public static RequestBody readOptional(Context ctx) {
    return bytes(ctx).length == 0 ? new RequestBody(NOTHING) : read(ctx);
  }

  /** Refuses a body, of an operation that has none: what it says would be ignored. */
  public static void none(Context ctx) {
    if (ctx.req().getContentLengthLong() > 0
        || ctx.header(HttpHeader.TRANSFER_ENCODING.asString()) != null) {
      throw new Refusal(
          ProblemCode.FIELD_UNKNOWN,
          "body",
          "This operation takes no body; its options are query parameters. Nothing was done.");
    }
  }

  public JsonObject object() {
    return object;
  }

  /** The items of a batch: those of its longest list, or as many as its {@code count} says. */
  public int itemCount() {
    int longest =
        node.valueStream().filter(JsonNode::isArray).mapToInt(JsonNode::size).max().orElse(0);
    return Math.max(longest, node.path("count").asInt(0));
  }

  /** SHA-256 of the body in hex, which distinguishes a repeated request from another one. */
  public String sha256() {
    return HexFormat.of().formatHex(Sha256.start().digest(bytes));
  }

  private static JsonNode parse(byte[] bytes) {
    String text = decode(bytes);
    JsonNode node;
    try {
      node = Json.MAPPER.readTree(text);
    } catch (JacksonException malformed) {
      throw new Refusal(
          ProblemCode.JSON_MALFORMED,
          "The body must be one JSON object: no duplicate names, nothing after it, at most 20"
              + " levels, 20 digits, and 50,000 names, values and brackets.");
    }
    if (node == null || !node.isObject()) {
      throw new Refusal(ProblemCode.JSON_MALFORMED, "The body must be one JSON object.");
    }
    requireSoundText(node);
    return node;
  }

  private static void requireType(Context ctx, Set<String> mediaTypes) {
    // The raw header, because the servlet fails on an invalid charset.
    typeRefusal(ctx.header("Content-Type"), ctx.header("Content-Encoding"), mediaTypes)
        .ifPresent(
            problem -> {
              throw new Refusal(problem);
            });
  }

  /** Why a body with these headers is refused; empty if it is none or of a media type. */
  public static Optional<Problem> typeRefusal(HttpFields headers, Set<String> mediaTypes) {
    boolean isNone =
        headers.getLongField(HttpHeader.CONTENT_LENGTH) <= 0
            && !headers.contains(HttpHeader.TRANSFER_ENCODING);
    if (isNone && !headers.contains(HttpHeader.CONTENT_TYPE)) {
      return Optional.empty(); // some operations need no body; the others refuse when they parse it
    }
    return typeRefusal(
        headers.get(HttpHeader.CONTENT_TYPE), headers.get(HttpHeader.CONTENT_ENCODING), mediaTypes);
  }

  private static Optional<Problem> typeRefusal(
      @Nullable String type, @Nullable String encoding, Set<String> mediaTypes) {
    return mediaType(type, encoding).filter(mediaTypes::contains).isPresent()
        ? Optional.empty()
        : Optional.of(
            Problem.of(
                ProblemCode.UNSUPPORTED_MEDIA_TYPE,
                mediaTypes.equals(FORM)
                    ? "Send the form of the page."
                    : "Send the body as Content-Type: application/json, in UTF-8, not"
                        + " compressed."));
  }

  /** The media type of a body in lower case; empty if the body is not UTF-8, or compressed. */
  public static Optional<String> mediaType(@Nullable String type, @Nullable String encoding) {
    if (type == null || (encoding != null && !encoding.equalsIgnoreCase("identity"))) {
      return Optional.empty();
    }
    String[] parts = type.toLowerCase(Locale.ROOT).split(";", 3);
    boolean isUtf8 =
        parts.length == 1
            || (parts.length == 2 && parts[1].strip().replace("\"", "").equals("charset=utf-8"));
    return isUtf8 ? Optional.of(parts[0].strip()) : Optional.empty();
  }

  /** Stores a collected body in its request. */
  public static void keep(Request request, byte[] body) {
    request.setAttribute(ATTRIBUTE, body);
  }

  /** The collected body; empty if there is none. */
  public static Optional<byte[]> kept(Request request) {
    return Optional.ofNullable((byte[]) request.getAttribute(ATTRIBUTE))
        .filter(body -> body.length > 0);
  }

  /** The collected body as it was sent. */
  public static byte[] bytes(Context ctx) {
    if (ctx.req().getAttribute(ATTRIBUTE) instanceof byte[] body) {
      return body;
    }
    throw new IllegalStateException("registered without a body: " + ctx.endpoint().path);
  }

  /** Strict UTF-8: refuses a lone surrogate, UTF-16 and a byte order mark. */
  private static String decode(byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (!text.isEmpty() && text.charAt(0) != '\uFEFF') {
        return text;
      }
    } catch (CharacterCodingException notUtf8) {
      // refused below, like the other two
    }
    throw new Refusal(
        ProblemCode.JSON_MALFORMED, "The body must be JSON in UTF-8 without a byte order mark.");
  }

  /**
   * Escapes can encode what UTF-8 can't: half a surrogate pair, or a NUL, which Postgres refuses.
   */
  private static void requireSoundText(JsonNode node) {
    if (node.isString() && !isSound(node.stringValue())) {
      throw new Refusal(
          ProblemCode.JSON_MALFORMED, "A string contains U+0000 or half a surrogate pair.");
    }
    if (node.isObject()) {
      node.properties().forEach(field -> requireSoundText(field.getValue()));
    } else {
      node.forEach(RequestBody::requireSoundText);
    }
  }

  private static boolean isSound(String text) {
    return text.indexOf('\0') < 0 && text.codePoints().noneMatch(c -> c >= 0xD800 && c <= 0xDFFF);
  }
}
