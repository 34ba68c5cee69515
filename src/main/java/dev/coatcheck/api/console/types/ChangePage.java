package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.FormPage;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.types.TypeBody;
import dev.coatcheck.api.routes.types.TypeChanges;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.registry.Brownout;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.PutOutcome;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import io.javalin.http.Context;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * A change of a type in two steps: a form, then a page with the difference, what follows from it
 * and which links end. Nothing is changed before the second one is confirmed, and only if the type
 * still has the version that was seen.
 */
final class ChangePage implements FormPage<Subject> {
  private static final String VERSION = "version";
  private static final String STEP = "step";
  private static final String CONFIRM = "confirm";
  private static final String CONFIRM_LINKS = "confirm_links";
  private static final String EDIT = "edit";

  private final ChangeKind kind;
  private final TypePages.Verbs verbs;
  private final InstantSource clock;

  ChangePage(ChangeKind kind, TypePages.Verbs verbs, InstantSource clock) {
    this.kind = kind;
    this.verbs = verbs;
    this.clock = clock;
  }

  /**
   * @param isWrong whether the fault is about it
   */
  record Input(TypeField field, String value, boolean isWrong) {
    boolean isChosen(String choice) {
      return value.isEmpty()
          ? choice.equals(field.choices().firstEntry().getKey())
          : choice.equals(value);
    }
  }

  record InputGroup(String title, String absent, List<Input> inputs) {}

  record FormView(
      Frame frame,
      String formToken,
      ChangeKind kind,
      Subject subject,
      int version,
      String name,
      List<InputGroup> groups,
      String fault) {
    String cancel() {
      return kind.next(subject.name());
    }
  }

  /**
   * @param version that is changed
   * @param conflict that the type has changed meanwhile; mostly empty
   * @param sent the fields of the form, to be sent again
   */
  record DiffView(
      Frame frame,
      String formToken,
      ChangeKind kind,
      Subject subject,
      int version,
      String conflict,
      Map<String, String> sent,
      Draft draft,
      Optional<PutOutcome.LinksWouldDie> dying,
      String fault) {
    boolean hasForm() {
      return !kind.groups(subject).isEmpty();
    }

    boolean isNew() {
      return subject.type().isEmpty();
    }

    String button() {
      return conflict.isEmpty()
          ? kind.button(subject)
          : "Save over version " + Display.number(version);
    }

    String cancel() {
      return kind.next(subject.name());
    }

    String json() {
      return Json.text(TypeBody.fields(draft.definition()));
    }

    String curl() {
      return Display.curl(
          "PUT",
          "/v1/types/" + draft.definition().name() + (dying.isPresent() ? "?confirm=links" : ""),
          json());
    }

    String command() {
      return "coatcheck types put "
          + draft.definition().name()
          + " --file type.json"
          + (dying.isPresent() ? " --confirm-links" : "");
    }
  }

  record Draft(TypeDefinition definition, TypeDiff diff, List<String> consequences) {}

  @Override
  public Subject subject(Context ctx, Visit visit) {
    Map<String, String> names = ctx.pathParamMap();
    String name = names.get("name");
    if (name == null) {
      return new Subject(Optional.empty(), Optional.empty());
    }
    Type type = verbs.parameters().type(visit.types(), "name", name);
    return new Subject(
        Optional.of(type),
        Optional.ofNullable(names.get("from")).map(from -> brownout(type, from)));
  }

  private static Brownout brownout(Type type, String from) {
    Optional<Instant> began = Query.number(from).map(Instant::ofEpochSecond);
    return type.legacy().stream()
        .map(LegacyPolicy::brownouts)
        .flatMap(List::stream)
        .filter(window -> began.filter(window.from()::equals).isPresent())
        .findFirst()
        .orElseThrow(
            () ->
                new Refusal(
                    ProblemCode.NOT_FOUND, "This type has no brownout that begins at this time."));
  }

  @Override
  public Html.Template page(Visit visit, Subject subject, Form form, Optional<Problem> problem) {
    List<TypeFields.Group> groups = kind.groups(subject);
    boolean wasSent = form.isTicked(VERSION);
    String fault = problem.map(Problem::detail).orElse("");
    if (groups.isEmpty()) {
      Draft draft = draft(subject, form);
      return diff(visit, subject, form, draft, subject.version(), "", Optional.empty(), fault);
    }
    Map<String, String> proposed = kind.proposed(subject);
    FormView view =
        new FormView(
            visit.frame(kind.section(), kind.heading(subject)),
            visit.formToken(),
            kind,
            subject,
            wasSent ? version(form) : subject.version(),
            form.sent("name"),
            groups.stream()
                .map(
                    group ->
                        new InputGroup(
                            group.title(),
                            group.absent(),
                            group.fields().stream()
                                .map(
                                    field ->
                                        new Input(
                                            field,
                                            wasSent
                                                ? form.sent(field.name())
                                                : proposed.getOrDefault(field.name(), ""),
                                            fault.startsWith(field.label() + ": ")))
                                .toList()))
                .toList(),
            fault);
    return (out, none) -> JteformGenerated.render(out, none, view);
  }

  @Override
  public Answer change(Visit visit, Subject subject, Form form) {
    String step = form.sent(STEP);
    if (step.equals(EDIT)) {
      return Html.page(200, page(visit, subject, form, Optional.empty()));
    }
    Draft draft = draft(subject, form);
    String name = draft.definition().name();
    Parameters.requireAllowed(visit.types(), name);
    boolean isConfirmed = step.equals(CONFIRM) || step.equals(CONFIRM_LINKS);
    PutConditions conditions =
        new PutConditions(
            OptionalInt.of(version(form)),
            step.equals(CONFIRM_LINKS) ? Optional.empty() : Optional.of(clock.instant()));
    // Of the type as Postgres has it: this instance may not have heard of its latest change yet.
    Function<Optional<Type>, TypeDefinition> change =
        present -> draft(new Subject(present, subject.brownout()), form).definition();
    Optional<PutOutcome> outcome =
        isConfirmed
            ? Optional.of(
                verbs.changes().put(name, change, conditions, visit.rights(), visit.actor()))
            : verbs.changes().refusal(name, change, conditions, visit.rights());
    return switch (outcome.orElse(null)) {
      case null -> {
        Html.Template page =
            diff(visit, subject, form, draft, version(form), "", Optional.empty(), "");
        yield Html.page(200, page);
      }
      case PutOutcome.Created(Type type) -> Html.seeOther(kind.next(type.name()));
      case PutOutcome.Updated(Type type) -> Html.seeOther(kind.next(type.name()));
      case PutOutcome.Refused refused ->
          throw new Refusal(TypeChanges.problem(refused).labelled(TypeFields::label));
      case PutOutcome.VersionDiffers _ -> conflict(visit, subject, form, draft);
      case PutOutcome.LinksWouldDie dying -> {
        String fault = isConfirmed ? "This ends links. Nothing was changed yet." : "";
        Html.Template page =
            diff(visit, subject, form, draft, version(form), "", Optional.of(dying), fault);
        yield Html.page(isConfirmed ? ProblemCode.LINKS_WOULD_DIE.status() : 200, page);
      }
    };
  }

  /** Shows what the form would do to the type as it is now. */
  private Answer conflict(Visit visit, Subject seen, Form form, Draft draft) {
    String name = draft.definition().name();
    if (seen.type().isEmpty()) {
      throw new Refusal(
          ProblemCode.PRECONDITION_FAILED,
          "name",
          "A type with this name exists already. Nothing was changed.");
    }
    Type now = verbs.parameters().type(visit.types(), "name", name);
    Subject subject = new Subject(Optional.of(now), seen.brownout());
    Draft again = draft(subject, form);
    Optional<PutOutcome.LinksWouldDie> dying =
        verbs
            .changes()
            .refusal(
                name,
                _ -> again.definition(),
                new PutConditions(OptionalInt.empty(), Optional.of(clock.instant())),
                visit.rights())
            .filter(PutOutcome.LinksWouldDie.class::isInstance)
            .map(PutOutcome.LinksWouldDie.class::cast);
    String conflict =
        "The type changed while you filled in the form: you saw version "
            + version(form)
            + ", and it is now at version "
            + now.version()
            + ". Nothing was changed. Below is what your form would do to version "
            + now.version()
            + ".";
    return Html.page(
        ProblemCode.PRECONDITION_FAILED.status(),
        diff(visit, subject, form, again, now.version(), conflict, dying, ""));
  }

  private Html.Template diff(
      Visit visit,
      Subject subject,
      Form form,
      Draft draft,
      int version,
      String conflict,
      Optional<PutOutcome.LinksWouldDie> dying,
      String fault) {
    Map<String, String> sent = new LinkedHashMap<>();
    if (subject.type().isEmpty()) {
      sent.put("name", form.sent("name"));
    }
    kind.groups(subject).stream()
        .flatMap(group -> group.fields().stream())
        .forEach(field -> sent.put(field.name(), form.sent(field.name())));
    DiffView view =
        new DiffView(
            visit.frame(kind.section(), kind.heading(subject)),
            visit.formToken(),
            kind,
            subject,
            version,
            conflict,
            sent,
            draft,
            dying,
            fault);
    return (out, none) -> JtediffGenerated.render(out, none, view);
  }

  private Draft draft(Subject subject, Form form) {
    try {
      String name = subject.type().map(Type::name).orElseGet(() -> form.sent("name"));
      TypeDefinition definition =
          verbs
              .changes()
              .definition(
                  name,
                  subject.type(),
                  JsonObject.of(
                      Json.MAPPER.valueToTree(TypeFields.body(kind.changed(subject, form)))));
      Map<String, String> after = TypeFields.texts(TypeBody.fields(definition));
      return new Draft(
          definition, TypeDiff.between(subject.texts(), after), kind.consequences(subject, after));
    } catch (JsonFault fault) {
      throw new Refusal(Problem.of(fault).labelled(TypeFields::label));
    }
  }

  private static int version(Form form) {
    return Query.number(form.sent(VERSION))
        .filter(version -> version <= Integer.MAX_VALUE)
        .map(Long::intValue)
        .orElseThrow(
            () ->
                new Refusal(
                    ProblemCode.REQUEST_INVALID,
                    "The form lacks the version of the type. Load its page again."));
  }
}
