package dev.coatcheck.http;

import java.util.Locale;

/** Every error that the API can answer: its stable code, its status and its title. */
enum ProblemCode {
  PUBLIC_ID_MALFORMED(400, "This is not a public ID"),
  PUBLIC_ID_UNKNOWN(404, "No such public ID"),
  TYPE_UNKNOWN(404, "No such type"),
  KEY_MALFORMED(400, "This is not a key"),
  KEY_UNKNOWN(404, "The key has no public ID"),
  JSON_MALFORMED(400, "The body is not acceptable JSON"),
  FIELD_MISSING(400, "A field is missing"),
  FIELD_UNKNOWN(400, "A field is unknown"),
  FIELD_INVALID(400, "A field has an unacceptable value"),
  PARAMETER_INVALID(400, "A parameter has an unacceptable value"),
  PARAMETER_UNKNOWN(400, "A parameter is unknown"),
  PATH_INVALID(400, "The path is not acceptable"),
  HEADER_INVALID(400, "A header is not acceptable"),
  REQUEST_INVALID(400, "The request is not acceptable HTTP"),
  UNAUTHENTICATED(401, "An API key is needed"),
  FORBIDDEN(403, "The API key may not do this"),
  NOT_FOUND(404, "There is nothing here"),
  METHOD_NOT_ALLOWED(405, "This method is not supported here"),
  PREFIX_TAKEN(409, "Another type has this prefix"),
  IMMUTABLE_FIELD(409, "This field never changes"),
  PRECONDITION_FAILED(412, "The type has changed"),
  PAYLOAD_TOO_LARGE(413, "The body is too large"),
  URI_TOO_LONG(414, "The address is too long"),
  UNSUPPORTED_MEDIA_TYPE(415, "The body must be plain application/json"),
  REDIRECT_TEMPLATE_REFUSED(422, "This redirect template is refused"),
  BATCH_REFUSED(422, "An item was refused, so nothing was done"),
  HEADERS_TOO_LARGE(431, "The headers are too large"),
  INTERNAL(500, "Something broke on our side"),
  OVERLOADED(503, "Too many requests are under way"),
  DATABASE_UNAVAILABLE(503, "The database does not answer"),
  KEYS_UNAVAILABLE(503, "No keys can be generated now");

  private final int status;
  private final String title;

  ProblemCode(int status, String title) {
    this.status = status;
    this.title = title;
  }

  int status() {
    return status;
  }

  String title() {
    return title;
  }

  /** As it stands in answers. */
  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The page that explains the code; a relative reference, served by the gateway itself. */
  String typeUri() {
    return "/docs/errors#" + wireName();
  }
}
