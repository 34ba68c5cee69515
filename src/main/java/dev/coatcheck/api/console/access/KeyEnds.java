package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.routes.access.KeyBody;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.StoredKey;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The forms that replace an API key by a successor, and that end it. */
final class KeyEnds {
  private KeyEnds() {}

  /**
   * @param isOwn whether this person is signed in with the key
   */
  record View(Frame frame, KeyRow key, boolean isOwn, Form form, String formToken, String fault) {
    /** Overlaps to choose from, in seconds. */
    static Map<String, String> overlaps() {
      Map<String, String> overlaps = new LinkedHashMap<>();
      overlaps.put("0", "ends now");
      overlaps.put("3600", "works for 1 hour");
      overlaps.put("86400", "works for 1 day");
      overlaps.put("604800", "works for 7 days");
      overlaps.put("2592000", "works for 30 days");
      return overlaps;
    }

    String overlap() {
      return form.text("overlap").orElse("86400");
    }
  }

  private static View view(
      Visit visit, String title, KeyRow key, Form form, Optional<Problem> fault) {
    return new View(
        visit.frame(Section.KEYS, title + " " + key.key().name()),
        key,
        KeyPages.isOwn(key.key(), visit),
        form,
        visit.formToken(),
        fault.map(Problem::detail).orElse(""));
  }

  /** Replaces a key by a successor, whose secret is shown once. */
  record Rotate(KeyPages.Verbs verbs) implements KeyForms.OfKey {
    @Override
    public Html.Template page(
        Visit visit, ApiKeys.Listed listed, Form form, Optional<Problem> fault) {
      View view = view(visit, "Rotate", KeyRow.of(listed), form, fault);
      return (out, none) -> JterotateGenerated.render(out, none, view);
    }

    @Override
    public Answer change(Visit visit, ApiKeys.Listed listed, Form form) {
      StoredKey old = listed.key();
      // A form that is sent again finds the successor.
      KeyOutcome outcome =
          KeyForms.settled(() -> verbs.keys().rotate(old.keyId(), rotation(form), visit.actor()));
      if (!(outcome instanceof KeyOutcome.Made(ApiKey key, StoredKey stored))) {
        throw new IllegalStateException(outcome.toString());
      }
      return KeyForms.secret(
          new KeyForms.Secret(
              visit.frame(Section.KEYS, "API key rotated"),
              new KeyRow(stored, Optional.empty(), StoredKey.Status.ACTIVE),
              key.secretText(),
              Optional.of(new KeyForms.Replaced(ApiKey.shown(old.keyId()), end(old.keyId()))),
              KeyPages.isOwn(old, visit)));
    }

    /** When the old key ends. An outage must not cost the secret, which no other answer has. */
    private Optional<Instant> end(String keyId) {
      try {
        return verbs.keys().find(keyId).flatMap(found -> found.key().rights().expiresAt());
      } catch (DatabaseUnavailable reportedAlready) {
        return Optional.empty();
      }
    }

    @Override
    public String inDoubt(ApiKeys.Listed listed) {
      return "The API key may have been rotated or not. Load its page again. If it names a"
          + " successor, its secret was never shown: rotate the successor. Otherwise rotate this"
          + " key again.";
    }

    private static ApiKeys.Rotation rotation(Form form) {
      Map<String, @Nullable Object> body = new LinkedHashMap<>();
      body.put("overlap_seconds", Form.numberOr(form.sent("overlap")));
      body.put("expires_at", KeyFields.time(form.sent("expires_at")));
      return KeyBody.rotation(RequestBody.of(Json.write(body)).object());
    }
  }

  /** Ends a key for good. */
  record Revoke(KeyPages.Verbs verbs) implements KeyForms.OfKey {
    @Override
    public Html.Template page(
        Visit visit, ApiKeys.Listed listed, Form form, Optional<Problem> fault) {
      View view = view(visit, "Revoke", KeyRow.of(listed), form, fault);
      return (out, none) -> JterevokeGenerated.render(out, none, view);
    }

    @Override
    public Answer change(Visit visit, ApiKeys.Listed listed, Form form) {
      String keyId = listed.key().keyId();
      KeyOutcome _ =
          KeyForms.settled(
              () -> verbs.keys().revoke(keyId, form.isTicked("keep_successors"), visit.actor()));
      return KeyPages.isOwn(listed.key(), visit)
          ? Html.seeOther(Paths.SIGN_IN).with("Set-Cookie", Gate.noCookie())
          : Html.seeOther(KeyRow.path(ApiKey.shown(keyId)));
    }
  }
}
