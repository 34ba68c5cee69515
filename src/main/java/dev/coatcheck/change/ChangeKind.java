package dev.coatcheck.change;

import java.util.Locale;

/** What a change is about. */
public enum ChangeKind {
  /** A public ID was revoked or merged; the subject is its token as a UUID. */
  ENDING,
  /** An API key was revoked; the subject is its ID. */
  API_KEY,
  /** A type was created or changed; the subject is its number. */
  TYPE;

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
