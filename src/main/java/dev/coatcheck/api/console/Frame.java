package dev.coatcheck.api.console;

import java.util.Optional;

/**
 * What a page has around its content.
 *
 * @param who empty on the pages before the sign-in
 */
record Frame(String title, Optional<Who> who) {
  /** A page before the sign-in. */
  static Frame outside(String title) {
    return new Frame(title, Optional.empty());
  }

  /**
   * Who is signed in.
   *
   * @param formToken for the form that signs out
   */
  record Who(String principal, String keyId, String formToken, boolean isReadOnly) {}
}
