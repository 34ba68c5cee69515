package dev.coatcheck.core.json;

/**
 * A field that can't be accepted. Only reading throws it. The server catches it, as it does an
 * {@code api.exchange.Refusal}, and so does {@code coatcheck types diff}.
 */
public final class JsonFault extends RuntimeException {
  private final String code;
  private final String field;

  /**
   * A fault of a field.
   *
   * @param code of the problem in the answer
   * @param field by its path: {@code items[3].key}
   * @param detail says what is wrong, and what to do
   */
  public JsonFault(String code, String field, String detail) {
    super(detail, null, false, false);
    this.code = code;
    this.field = field;
  }

  public String code() {
    return code;
  }

  public String field() {
    return field;
  }

  public String detail() {
    return String.valueOf(getMessage());
  }
}
