package dev.coatcheck.api.console.page;

import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import io.javalin.http.Context;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The fields of a form that a browser has sent, without the spaces around their texts. */
public final class Form {
  /** The field with the token of the session's forms. */
  static final String TOKEN = "form_token";

  /** Without any field: a page that was not sent before. */
  public static final Form EMPTY = new Form(Map.of());

  private static final int FIELDS_MAX = 60;

  private final Map<String, String> fields;

  private Form(Map<String, String> fields) {
    this.fields = fields;
  }

  /** Reads the body of a request, which was collected before; a field counts once. */
  public static Form read(Context ctx) {
    Map<String, String> fields = new LinkedHashMap<>();
    String body = new String(RequestBody.bytes(ctx), StandardCharsets.US_ASCII);
    for (String pair : body.split("&", FIELDS_MAX + 1)) {
      String[] parts = pair.split("=", 2);
      String before =
          fields.putIfAbsent(decoded(parts[0]), parts.length == 1 ? "" : decoded(parts[1]));
      if (before != null || fields.size() > FIELDS_MAX) {
        throw malformed();
      }
    }
    return new Form(fields);
  }

  /** The text of a field; empty if there is none, or if it is blank. */
  public Optional<String> text(String name) {
    return Optional.ofNullable(fields.get(name)).filter(text -> !text.isEmpty());
  }

  /** The text of a field as it was sent; an empty text if there is none. */
  public String sent(String name) {
    return fields.getOrDefault(name, "");
  }

  /** Whether a box was ticked. */
  public boolean isTicked(String name) {
    return fields.containsKey(name);
  }

  /** What follows a prefix in the names of the boxes that were ticked. */
  public List<String> ticked(String prefix) {
    return fields.keySet().stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .toList();
  }

  /** A number, or the text that is refused in its place. */
  public static Object numberOr(String text) {
    return text.matches("-?[0-9]{1,9}") ? Integer.valueOf(text) : text;
  }

  private static String decoded(String text) {
    try {
      String decoded = URLDecoder.decode(text, StandardCharsets.UTF_8).strip();
      if (decoded.indexOf('\0') < 0) {
        return decoded;
      }
    } catch (IllegalArgumentException halfAnEscape) {
      // refused below
    }
    throw malformed();
  }

  private static Refusal malformed() {
    return new Refusal(ProblemCode.REQUEST_INVALID, "The form is malformed.");
  }
}
