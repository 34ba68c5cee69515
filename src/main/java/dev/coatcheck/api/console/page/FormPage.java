package dev.coatcheck.api.console.page;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import io.javalin.http.Context;
import java.util.Optional;

/**
 * A page that says what follows from a change, with the form that makes it. {@link Gate#register}
 * serves both.
 *
 * @param <S> what is changed
 */
public interface FormPage<S> {
  /**
   * What the path names.
   *
   * @throws dev.coatcheck.api.exchange.Refusal if there is no such thing, or not for this person
   */
  S subject(Context ctx, Visit visit);

  /**
   * The page.
   *
   * @param form as it was sent, if something was wrong with it
   * @param fault what was wrong with it
   */
  Html.Template page(Visit visit, S subject, Form form, Optional<Problem> fault);

  /**
   * Makes the change.
   *
   * @return what is shown then, mostly {@link Html#seeOther another page}
   * @throws dev.coatcheck.api.exchange.Refusal if nothing was done; the form shows why
   */
  Answer change(Visit visit, S subject, Form form);

  /** What to do after an outage of Postgres or a bug, which leave open whether it was made. */
  default String inDoubt(S subject) {
    return "The change may have been made or not. Load the page again and look, before you send"
        + " the form again.";
  }
}
