package dev.coatcheck.api.exchange;

import dev.coatcheck.core.name.WireNamed;

/** Every error of the API: its stable code, its status and its title. */
public enum ProblemCode implements WireNamed {
  PUBLIC_ID_MALFORMED(400, "Malformed public ID"),
  PUBLIC_ID_UNKNOWN(404, "Public ID unknown"),
  PUBLIC_ID_REVOKED(410, "Public ID revoked"),
  PUBLIC_ID_ERASED(410, "Public ID erased"),
  PUBLIC_ID_IS_SURVIVOR(409, "Public ID is a survivor"),
  ID_ENDED(409, "Public ID ended"),
  SEGMENT_UNKNOWN(404, "Segment unknown"),
  SEGMENT_EXHAUSTED(409, "Segment exhausted"),
  LEASE_UNKNOWN(404, "Lease unknown"),
  LEASE_STALE(409, "Lease stale"),
  LEASES_EXHAUSTED(409, "Leases exhausted"),
  MERGE_REFUSED(409, "Merge refused"),
  CHANGES_FORGOTTEN(410, "Changes forgotten"),
  TYPE_UNKNOWN(404, "Type unknown"),
  KEY_MALFORMED(400, "Malformed key"),
  KEY_REQUIRED(422, "Key required"),
  KEY_TOO_FAR_AHEAD(422, "Key too far ahead"),
  KEY_UNKNOWN(404, "Key unknown"),
  LEGACY_ID_MALFORMED(400, "Malformed legacy ID"),
  LEGACY_ID_UNKNOWN(404, "Legacy ID unknown"),
  LEGACY_IDS_GONE(410, "Legacy IDs gone"),
  LEGACY_BROWNOUT(503, "Legacy IDs paused"),
  LEGACY_BROWNOUT_GONE(410, "Legacy IDs paused"),
  URL_INVALID(400, "Invalid URL"),
  JSON_MALFORMED(400, "Malformed JSON"),
  FIELD_MISSING(400, "Field missing"),
  FIELD_UNKNOWN(400, "Unknown field"),
  FIELD_INVALID(400, "Invalid field"),
  PARAMETER_INVALID(400, "Invalid parameter"),
  PARAMETER_UNKNOWN(400, "Unknown parameter"),
  UNAUTHENTICATED(401, "Not authenticated"),
  FORBIDDEN(403, "Forbidden"),
  TYPE_NOT_ALLOWED(403, "Type not allowed"),
  ADDRESS_NOT_ALLOWED(403, "Address not allowed"),
  RIGHTS_EXCEEDED(403, "Rights exceeded"),
  PRINCIPAL_TAKEN(403, "Principal taken"),
  API_KEY_UNKNOWN(404, "API key unknown"),
  API_KEY_ENDED(409, "API key ended"),
  API_KEY_ROTATED(409, "API key rotated"),
  URL_REFUSED(403, "URL refused"),
  NOT_FOUND(404, "Not found"),
  METHOD_NOT_ALLOWED(405, "Method not allowed"),
  URI_TOO_LONG(414, "URI too long"),
  PAYLOAD_TOO_LARGE(413, "Payload too large"),
  UNSUPPORTED_MEDIA_TYPE(415, "Unsupported media type"),
  HEADERS_TOO_LARGE(431, "Headers too large"),
  REQUEST_TIMEOUT(408, "Request timeout"),
  HTTP_VERSION_UNSUPPORTED(505, "HTTP version not supported"),
  HEADER_INVALID(400, "Invalid header"),
  PATH_INVALID(400, "Invalid path"),
  REQUEST_INVALID(400, "Invalid request"),
  ALIAS_MALFORMED(400, "Malformed alias"),
  ALIAS_UNKNOWN(404, "Alias unknown"),
  ALIAS_CONFLICT(409, "Alias conflict"),
  IDEMPOTENCY_KEY_REUSED(422, "Idempotency-Key reused"),
  BUSY(409, "Busy"),
  PREFIX_TAKEN(409, "Prefix taken"),
  IMMUTABLE_FIELD(409, "Field can't be changed"),
  KEY_GENERATION_REFUSED(422, "Key generation refused"),
  TYPE_NOT_SEALABLE(422, "Type not sealable"),
  TYPE_SEALED(422, "Type sealed"),
  TYPE_RETIRED(409, "Type retired"),
  SEAL_KEY_UNKNOWN(422, "Seal key unknown"),
  SEALED_FROM_REFUSED(422, "Moment of sealing refused"),
  ERA_REFUSED(422, "Era refused"),
  PRECONDITION_FAILED(412, "Precondition failed"),
  REDIRECT_TEMPLATE_REFUSED(422, "Redirect template refused"),
  URL_TEMPLATE_REFUSED(422, "URL template refused"),
  URL_TEMPLATE_CONFLICT(409, "URL template conflict"),
  LINKS_WOULD_DIE(409, "Links would die"),
  PUBLIC_IDS_OVERLAP(422, "Public IDs overlap"),
  BATCH_REFUSED(422, "Batch refused"),
  SOURCE_UNKNOWN(404, "Source unknown"),
  TABLE_MIGRATION_UNKNOWN(404, "Table migration unknown"),
  TABLE_MIGRATION_REFUSED(422, "Table migration refused"),
  PRECONDITIONS_NOT_ACCEPTED(409, "Preconditions not accepted"),
  TABLE_MIGRATION_STATE(409, "Not in this state"),
  RETIREMENT_UNFINISHED(409, "Retirement unfinished"),
  THROTTLE_OUT_OF_RANGE(422, "Throttle setting out of range"),
  BATCH_EXCEEDS_QUOTA(422, "Batch exceeds the quota"),
  ABNORMAL_USAGE_DETECTED(429, "Abnormal usage detected"),
  QUOTA_EXCEEDED(429, "Quota exceeded"),
  OVERLOADED(503, "Overloaded"),
  DATABASE_UNAVAILABLE(503, "Database unavailable"),
  KEYS_UNAVAILABLE(503, "Keys unavailable"),
  NO_WORKER_RANGE(503, "No worker range"),
  KEYS_FENCED(503, "Keys fenced"),
  NO_DATED_WORKER_LEFT(503, "No worker left for given times"),
  SEAL_KEY_MISSING(503, "Seal key missing"),
  INTERNAL(500, "Internal error");

  private static final String IANA = "https://iana.org/assignments/http-problem-types#";

  private final int status;
  private final String title;

  ProblemCode(int status, String title) {
    this.status = status;
    this.title = title;
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  /**
   * The page that explains the code: a relative reference, served by the gateway. Three codes have
   * the types that the draft of the RateLimit headers registers.
   */
  public String typeUri() {
    return switch (this) {
      case QUOTA_EXCEEDED -> IANA + "quota-exceeded";
      case OVERLOADED -> IANA + "temporary-reduced-capacity";
      case ABNORMAL_USAGE_DETECTED -> IANA + "abnormal-usage-detected";
      default -> "/docs/errors#" + wireName();
    };
  }
}
