package dev.coatcheck.id;

/** A text is not a public ID of the expected type. The message does not contain the text. */
public final class InvalidPublicIdException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  private final transient ParsedPublicId<?> result;

  InvalidPublicIdException(ParsedPublicId<?> result, String message) {
    super(message);
    this.result = result;
  }

  /**
   * What the text is instead.
   *
   * @return {@link ParsedPublicId.WrongType} or {@link ParsedPublicId.Malformed}
   */
  public ParsedPublicId<?> result() {
    return result;
  }
}
