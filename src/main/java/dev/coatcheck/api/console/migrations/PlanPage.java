package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.FormPage;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.migrations.RunAnswers;
import dev.coatcheck.api.routes.migrations.RunFields;
import dev.coatcheck.api.routes.migrations.TableText;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.plan.Planner;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.PlanOutcome;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;

/** Plans a table migration, {@code /console/migrations/new}. */
final class PlanPage implements FormPage<PlanPage.Choices> {
  static final String PATH = Section.MIGRATIONS.path() + "/new";

  private final MigrationPages.Verbs verbs;

  PlanPage(MigrationPages.Verbs verbs) {
    this.verbs = verbs;
  }

  /**
   * @param types that rows of a table can have, and that the person may use
   */
  record Choices(List<String> sources, List<String> types) {
    Choices {
      sources = List.copyOf(sources);
      types = List.copyOf(types);
    }
  }

  /**
   * @param form as it was sent, if something was wrong with it
   * @param fault why no plan was made
   */
  record View(Frame frame, Choices choices, String formToken, Form form, Optional<Problem> fault) {
    String sent(String field) {
      return form.sent(field);
    }

    boolean isSource(String source) {
      return source.equals(form.text("source").orElse(Sources.GATEWAY));
    }

    boolean isType(String type) {
      return type.equals(form.sent("type"));
    }
  }

  @Override
  public Choices subject(Context ctx, Visit visit) {
    return new Choices(
        verbs.sources().names(),
        verbs.registry().all().stream()
            .filter(Planner::suits)
            .filter(visit.types()::hold)
            .map(Type::name)
            .sorted()
            .toList());
  }

  @Override
  public Html.Template page(Visit visit, Choices choices, Form form, Optional<Problem> fault) {
    View view =
        new View(
            visit.frame(Section.MIGRATIONS, "Plan a table migration"),
            choices,
            visit.formToken(),
            form,
            fault);
    return (out, none) -> JteplanGenerated.render(out, none, view);
  }

  @Override
  public Answer change(Visit visit, Choices choices, Form form) {
    PlanOutcome outcome =
        verbs
            .migrations()
            .plan(request(visit, form), new ActionRequest<>(visit.actor(), Optional.empty()))
            .outcome();
    if (outcome instanceof PlanOutcome.Planned(var whole)) {
      return Html.seeOther(RunActions.path(whole.run().id()));
    }
    throw new Refusal(RunAnswers.refusal(outcome).orElseThrow());
  }

  private PlanRequest request(Visit visit, Form form) {
    TableName table =
        TableText.parse(form.text("table").orElse(""))
            .orElseThrow(() -> new Refusal(RunAnswers.tableMalformed()));
    Type type =
        new Parameters(verbs.registry()).type(visit.types(), "type", form.text("type").orElse(""));
    return new PlanRequest(
        form.text("source").orElse(Sources.GATEWAY),
        new TableSpec(
            table.schema(),
            table.table(),
            form.text("created_at_column"),
            form.isTicked("keep_primary_key")),
        type,
        form.text("application_search_path").map(RunFields::searchPath));
  }
}
