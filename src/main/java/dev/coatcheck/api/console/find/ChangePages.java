package dev.coatcheck.api.console.find;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.FormPage;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.ClientIds;
import dev.coatcheck.api.routes.EndingRoutes;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Type;
import gg.jte.html.HtmlInterceptor;
import gg.jte.html.HtmlTemplateOutput;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;

/**
 * What people can do to a public ID: revoke it, merge it, add an alias. Each has a page that names
 * the public ID again and says what follows, and whose form does it.
 */
final class ChangePages {
  private static final String ONE = "/console/ids/{id}/";

  private final Gate gate;
  private final FindPages.Verbs verbs;

  ChangePages(Gate gate, FindPages.Verbs verbs) {
    this.gate = gate;
    this.verbs = verbs;
  }

  void register(Endpoints endpoints) {
    gate.register(
        endpoints,
        ONE + "revoke",
        Scope.IDS_END,
        new Change(this, "Revoke", JterevokeGenerated::render, this::revoke));
    gate.register(
        endpoints,
        ONE + "merge",
        Scope.IDS_END,
        new Change(this, "Merge", JtemergeGenerated::render, this::merge));
    gate.register(
        endpoints,
        ONE + "aliases",
        Scope.IDS_WRITE,
        new Change(this, "Add an alias", JteaddAliasGenerated::render, this::addAlias));
  }

  /** A change of one public ID, with the page that confirms it. */
  private record Change(ChangePages pages, String title, Template template, Work work)
      implements FormPage<Mapping> {
    @Override
    public Mapping subject(Context ctx, Visit visit) {
      return pages.mapping(ctx, visit);
    }

    @Override
    public Html.Template page(Visit visit, Mapping mapping, Form form, Optional<Problem> fault) {
      View view =
          new View(
              visit.frame(Section.FIND, title + " " + mapping.publicId()),
              mapping,
              visit.rights().may(Scope.IDS_READ),
              visit.formToken(),
              form,
              fault.map(Problem::detail).orElse(""));
      return (out, none) -> template.render(out, none, view);
    }

    @Override
    public Answer change(Visit visit, Mapping mapping, Form form) {
      work.make(mapping, visit, form);
      return Html.seeOther(Paths.find(mapping.publicId().toString()));
    }
  }

  @FunctionalInterface
  private interface Template {
    void render(HtmlTemplateOutput out, HtmlInterceptor none, View view);
  }

  /** Does what a form asks for, or throws a {@link Refusal}. */
  @FunctionalInterface
  private interface Work {
    void make(Mapping mapping, Visit visit, Form form);
  }

  /**
   * What the page of a change shows.
   *
   * @param showsKey whether the person may read internal keys
   * @param form as it was sent, if something was wrong with it
   * @param fault what was wrong, or an empty text
   */
  record View(
      Frame frame, Mapping mapping, boolean showsKey, String formToken, Form form, String fault) {
    String id() {
      return mapping.publicId().toString();
    }
  }

  /** The public ID of the path, which must be active, and of a type that the caller may use. */
  private Mapping mapping(Context ctx, Visit visit) {
    return switch (verbs.resolver().resolve(ctx.pathParam("id"), visit.types())) {
      case ResolveOutcome.Found(Mapping mapping) -> mapping;
      case ResolveOutcome.Ended _ -> throw new Refusal(ended());
      case ResolveOutcome.Erased _ -> throw new Refusal(Problem.erased("id"));
      case ResolveOutcome.Unissued unissued ->
          throw new Refusal(IdProblems.unissued("id", unissued));
    };
  }

  private static Problem ended() {
    return IdProblems.ended("id", "This public ID was already revoked or merged, for good.");
  }

  private void revoke(Mapping mapping, Visit visit, Form form) {
    Optional<String> reason = form.text("reason");
    if (reason.filter(text -> text.length() > EndingRoutes.REASON_LENGTH_MAX).isPresent()) {
      throw new Refusal(
          ProblemCode.FIELD_INVALID,
          "reason",
          "A reason has at most " + EndingRoutes.REASON_LENGTH_MAX + " characters.");
    }
    end(new Endings.Request.Revoke(mapping.publicId().toString(), reason), visit);
  }

  private void merge(Mapping mapping, Visit visit, Form form) {
    end(
        new Endings.Request.Merge(mapping.publicId().toString(), form.text("into").orElse("")),
        visit);
  }

  private void end(Endings.Request request, Visit visit) {
    switch (verbs
        .endings()
        .end(List.of(request), Endings.Mode.EACH, visit.actor(), visit.types(), Optional.empty())) {
      case Endings.Result.Settled(var outcomes) -> {
        if (EndingRoutes.ended(outcomes.getFirst(), "")
            instanceof Item.Refused<Shown>(Problem why)) {
          throw new Refusal(why);
        }
      }
      case Endings.Result.Busy _ ->
          throw new Refusal(
              Problem.busy(
                  "Another transaction uses this public ID. Nothing was done; try again."));
      case Endings.Result.Overloaded _ ->
          throw new Refusal(
              Problem.unavailable(
                  ProblemCode.OVERLOADED,
                  "Too many revocations and merges are waiting. Nothing was done; try again."));
      case Endings.Result.Answered _, Endings.Result.KeyReused _ ->
          throw new IllegalStateException("no Idempotency-Key was sent");
    }
  }

  private void addAlias(Mapping mapping, Visit visit, Form form) {
    switch (verbs
        .aliases()
        .add(
            mapping.type(),
            mapping.publicId(),
            alias(mapping.type(), visit, form),
            visit.actor())) {
      case ADDED, PRESENT -> {}
      case TAKEN ->
          throw new Refusal(
              ProblemCode.ALIAS_CONFLICT,
              "value",
              "Another public ID already has this alias. Nothing was done.");
      case ERASED -> throw new Refusal(Problem.erased("value"));
      case ENDED -> throw new Refusal(ended());
    }
  }

  private static Alias alias(Type type, Visit visit, Form form) {
    AliasScheme scheme = Parameters.aliasScheme(form.sent("scheme"));
    String value = form.text("value").orElse("");
    return scheme == AliasScheme.CLIENT
        ? ClientIds.of(type, value, form.text("namespace"), "namespace", visit.caller().principal())
        : Parameters.alias(type, scheme, "value", value);
  }
}
