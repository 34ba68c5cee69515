package dev.coatcheck.api.console;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.ConsoleSessions.Session;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import java.util.Optional;

/**
 * A request of a person who is signed in.
 *
 * @param mode the console's; a read-only console changes nothing, whatever the API key may do
 * @param actor for the audit
 */
record Visit(Session session, ConsoleMode mode, Actor actor) {
  Caller caller() {
    return session.caller();
  }

  Rights rights() {
    return session.caller().rights();
  }

  /** Whether this person may change what needs the scope. */
  boolean mayChange(Scope needed) {
    return mode == ConsoleMode.ON && rights().may(needed);
  }

  String formToken() {
    return session.token().formToken();
  }

  Frame frame(String title) {
    return new Frame(
        title,
        Optional.of(
            new Frame.Who(
                caller().principal(),
                caller().keyId(),
                formToken(),
                mode == ConsoleMode.READ_ONLY)));
  }
}
