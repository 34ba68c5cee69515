package dev.coatcheck.app.client;

/** A command failed. The message is for the terminal. */
public class CommandFailed extends Exception {
  private static final long serialVersionUID = 1L;

  private final String field;

  public CommandFailed(String message) {
    this("", message);
  }

  /**
   * A failure that a field of the request causes.
   *
   * @param field as the gateway calls it, or an empty text
   */
  CommandFailed(String field, String message) {
    super(message);
    this.field = field;
  }

  /** The field of the request that caused the failure, as the gateway calls it, or "". */
  public String field() {
    return field;
  }
}
