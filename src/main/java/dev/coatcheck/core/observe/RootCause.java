package dev.coatcheck.core.observe;

/** The first of the exceptions that led to an exception: the words of Postgres are in that. */
public final class RootCause {
  private RootCause() {}

  /** The exception itself if nothing caused it. */
  public static Throwable of(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  /** The words of Postgres without those of jOOQ. */
  public static String message(Throwable thrown) {
    return String.valueOf(of(thrown).getMessage());
  }

  /** The same in one line. */
  public static String words(Throwable thrown) {
    return String.join(" ", message(thrown).split("\\s*\\R\\s*"));
  }
}
