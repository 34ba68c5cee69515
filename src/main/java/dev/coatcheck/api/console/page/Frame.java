package dev.coatcheck.api.console.page;

import java.util.List;
import java.util.Optional;

/**
 * What a page has around its content.
 *
 * @param path of the page itself, with its parameters; empty for the answer to a form
 * @param section that the page belongs to; empty for a page of none
 * @param who empty on the pages before the sign-in
 */
public record Frame(
    String title, Theme theme, String path, Optional<Section> section, Optional<Who> who) {
  /**
   * Who is signed in.
   *
   * @param formToken for the form that signs out
   * @param sections that this person may see
   */
  public record Who(
      String principal,
      String keyId,
      String formToken,
      boolean isReadOnly,
      List<Section> sections) {
    public Who {
      sections = List.copyOf(sections);
    }
  }

  /** Whether the bar marks a section as the present one. */
  public boolean isIn(Section one) {
    return section.filter(one::equals).isPresent();
  }
}
