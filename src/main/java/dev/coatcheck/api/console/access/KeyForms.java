package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.FormPage;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.access.KeyBody;
import dev.coatcheck.api.routes.access.KeyProblems;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.NewKey;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The forms that create an API key and change its rights. */
final class KeyForms {
  private KeyForms() {}

  /**
   * @param key that is changed; empty in the form of a new one
   * @param once tells this form apart from others of the session; or the version that is changed
   * @param types names of the types that a key of this person can be for
   */
  record View(
      Frame frame,
      Optional<KeyRow> key,
      KeyFields fields,
      String once,
      List<String> types,
      String formToken,
      String fault) {
    View {
      types = List.copyOf(types);
    }

    /** The scopes to choose from; more than this person has are refused. */
    List<String> scopes() {
      return Scope.KNOWN.stream().map(Scope::name).toList();
    }
  }

  /**
   * What is shown once.
   *
   * @param replaced the key that was rotated; empty for a new one
   * @param isOwn whether this person is signed in with that key
   */
  record Secret(Frame frame, KeyRow key, String text, Optional<Replaced> replaced, boolean isOwn) {}

  /**
   * A key that was rotated.
   *
   * @param endsAt empty if it can't be read now
   */
  record Replaced(String id, Optional<Instant> endsAt) {}

  private static List<String> types(KeyPages.Verbs verbs, Visit visit) {
    return verbs.registry().all().stream()
        .filter(visit.types()::hold)
        .map(Type::name)
        .sorted()
        .toList();
  }

  /** What a verb refuses, and what it can't read, by the labels of the form. */
  static KeyOutcome settled(Supplier<KeyOutcome> verb) {
    try {
      KeyOutcome outcome = verb.get();
      if (outcome instanceof KeyOutcome.Refused refused) {
        throw KeyFields.labelled(KeyProblems.of(refused));
      }
      return outcome;
    } catch (JsonFault fault) {
      throw KeyFields.labelled(Problem.of(fault));
    }
  }

  /** The page of a new key with its secret, which is in no other answer. */
  static Answer secret(Secret shown) {
    return Html.page(201, (out, none) -> JtesecretGenerated.render(out, none, shown));
  }

  /**
   * Creates a key: once for each page with the form, so that a form that is sent twice makes one
   * key, and only its first answer has the secret.
   */
  record Create(KeyPages.Verbs verbs) implements FormPage<String> {
    private static final String ONCE = "once";
    private static final int ONCE_BYTES = 16;
    private static final Pattern ONCE_TEXT = Pattern.compile("[A-Za-z0-9_-]{22}");

    @Override
    public String subject(Context ctx, Visit visit) {
      byte[] bytes = new byte[ONCE_BYTES];
      verbs.random().fill(bytes);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    @Override
    public Html.Template page(Visit visit, String fresh, Form form, Optional<Problem> fault) {
      View view =
          new View(
              visit.frame(Section.KEYS, "Create an API key"),
              Optional.empty(),
              KeyFields.of(form),
              form.text(ONCE).filter(ONCE_TEXT.asMatchPredicate()).orElse(fresh),
              types(verbs, visit),
              visit.formToken(),
              fault.map(Problem::detail).orElse(""));
      return (out, none) -> JtecreateGenerated.render(out, none, view);
    }

    @Override
    public Answer change(Visit visit, String fresh, Form form) {
      String once =
          form.text(ONCE)
              .filter(ONCE_TEXT.asMatchPredicate())
              .orElseThrow(
                  () ->
                      new Refusal(
                          ProblemCode.FIELD_INVALID, ONCE, "Send the form of this page once."));
      KeyOutcome outcome =
          settled(
              () -> {
                NewKey wanted = KeyBody.created(KeyFields.of(form).created());
                return verbs
                    .keys()
                    .createOnce(visit.session().token().keyId(once), wanted, visit.actor());
              });
      return switch (outcome) {
        case KeyOutcome.Made(ApiKey key, StoredKey stored) ->
            secret(
                new Secret(
                    visit.frame(Section.KEYS, "API key created"),
                    new KeyRow(stored, Optional.empty(), StoredKey.Status.ACTIVE),
                    key.secretText(),
                    Optional.empty(),
                    false));
        case KeyOutcome.MadeBefore(StoredKey stored) ->
            Html.seeOther(KeyRow.path(ApiKey.shown(stored.keyId())));
        case KeyOutcome.Patched _, KeyOutcome.Revoked _, KeyOutcome.Refused _ ->
            throw new IllegalStateException(outcome.toString());
      };
    }
  }

  /** A form about a key that there is. */
  interface OfKey extends FormPage<ApiKeys.Listed> {
    KeyPages.Verbs verbs();

    @Override
    default ApiKeys.Listed subject(Context ctx, Visit visit) {
      return KeyPages.key(ctx, visit, verbs().keys());
    }
  }

  /** Changes the name and the rights of a key, if it still has the version that was seen. */
  record Edit(KeyPages.Verbs verbs) implements OfKey {
    private static final String VERSION = "version";
    private static final String CHANGED =
        "The API key has changed since its form was loaded. Nothing was changed now. Below is what"
            + " you filled in: look at the page of the key first, because to send this form again"
            + " replaces what the key has now.";
    private static final Pattern VERSION_TEXT = Pattern.compile("[1-9][0-9]{0,8}");

    @Override
    public Html.Template page(
        Visit visit, ApiKeys.Listed listed, Form form, Optional<Problem> fault) {
      StoredKey key = listed.key();
      boolean isNew = form.equals(Form.EMPTY);
      View view =
          new View(
              visit.frame(Section.KEYS, "Edit " + key.name()),
              Optional.of(new KeyRow(key, listed.lastUsedAt(), StoredKey.Status.ACTIVE)),
              isNew ? KeyFields.of(key) : KeyFields.of(form),
              // What was filled in may be sent again, over the change in between.
              isNew || isChanged(fault) ? Integer.toString(key.version()) : form.sent(VERSION),
              types(verbs, visit),
              visit.formToken(),
              isChanged(fault) ? CHANGED : fault.map(Problem::detail).orElse(""));
      return (out, none) -> JteeditGenerated.render(out, none, view);
    }

    private static boolean isChanged(Optional<Problem> fault) {
      return fault.map(Problem::code).equals(Optional.of(ProblemCode.PRECONDITION_FAILED));
    }

    @Override
    public Answer change(Visit visit, ApiKeys.Listed listed, Form form) {
      String version = form.sent(VERSION);
      if (!VERSION_TEXT.matcher(version).matches()) {
        throw new Refusal(ProblemCode.FIELD_INVALID, VERSION, "Load the page of the key again.");
      }
      KeyOutcome _ =
          settled(
              () ->
                  verbs
                      .keys()
                      .patch(
                          listed.key().keyId(),
                          key -> KeyBody.patched(KeyFields.of(form).patch(key), key),
                          OptionalInt.of(Integer.parseInt(version)),
                          visit.actor()));
      return Html.seeOther(KeyRow.path(ApiKey.shown(listed.key().keyId())));
    }
  }
}
