package dev.coatcheck.api.console.page;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.ConsoleSessions.Session;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import java.util.Arrays;
import java.util.Optional;

/**
 * A request of a person who is signed in.
 *
 * @param mode the console's; a read-only console changes nothing, whatever the API key may do
 * @param actor for the audit
 * @param path of the page, with its parameters; empty for a form
 */
public record Visit(Session session, ConsoleMode mode, Actor actor, Theme theme, String path) {
  public Caller caller() {
    return session.caller();
  }

  public Rights rights() {
    return session.caller().rights();
  }

  public AllowedTypes types() {
    return rights().allowedTypes();
  }

  /** Whether this person may change what needs the scope. */
  public boolean mayChange(Scope needed) {
    return mode == ConsoleMode.ON && rights().may(needed);
  }

  /** What each form of this person's pages carries. */
  public String formToken() {
    return session.token().formToken();
  }

  public Frame frame(Section section, String title) {
    return frame(title, Optional.of(section));
  }

  Frame frame(String title, Optional<Section> section) {
    return new Frame(
        title,
        theme,
        path,
        section,
        Optional.of(
            new Frame.Who(
                caller().principal(),
                ApiKey.shown(caller().keyId()),
                formToken(),
                mode == ConsoleMode.READ_ONLY,
                Arrays.stream(Section.values()).filter(each -> each.isFor(rights())).toList())));
  }
}
