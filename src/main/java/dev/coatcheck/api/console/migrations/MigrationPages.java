package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Live;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.routes.migrations.RunAnswers;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.run.JournalTable;
import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.verify.Report;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The runs of table migrations, {@code /console/migrations}: each run as it moves, the page that
 * plans one, and what can be done to it.
 */
public final class MigrationPages {
  private static final String ONE = Section.MIGRATIONS.path() + "/{id}";
  private static final String STREAM = "/console/events/migrations/{id}";
  private static final int ROWS = 50;
  private static final String BEFORE = "before";
  private static final String SHAPE = "shape";

  private final Gate gate;
  private final Live live;
  private final Verbs verbs;
  private final JournalTable journal;
  private final Registry registry;
  private final RunAnswers answers;

  /** What the pages ask. */
  public record Verbs(TableMigrations migrations, Registry registry, Sources sources) {}

  /**
   * The runs of a page of the list.
   *
   * @param older where older ones begin; empty for none
   */
  record Listed(List<RunView> runs, Optional<Long> older, boolean mayPlan) {
    Listed {
      runs = List.copyOf(runs);
    }
  }

  public MigrationPages(Gate gate, Live live, Verbs verbs) {
    this.gate = gate;
    this.live = live;
    this.verbs = verbs;
    this.journal = verbs.migrations().journal();
    this.registry = verbs.registry();
    this.answers = new RunAnswers(verbs.migrations(), verbs.registry());
  }

  public void register(Endpoints endpoints) {
    // First the pages of actions, because the path of a run has room for any word.
    gate.register(endpoints, PlanPage.PATH, Scope.TABLE_MIGRATIONS_WRITE, new PlanPage(verbs));
    for (RunAction action : RunAction.values()) {
      gate.register(
          endpoints,
          ONE + "/" + RunActions.segment(action),
          Scope.TABLE_MIGRATIONS_WRITE,
          new ActionPage(action, verbs));
    }
    endpoints.page(HandlerType.GET, Section.MIGRATIONS.path(), gate.page(this::list));
    endpoints.page(HandlerType.GET, ONE, gate.page(this::one));
    endpoints.page(HandlerType.GET, ONE + "/events", gate.page(this::events));
    endpoints.page(HandlerType.GET, STREAM, gate.stream(this::stream));
  }

  private Answer list(Context ctx, Visit visit) {
    Gate.require(visit, Section.MIGRATIONS.needed());
    AllowedTypes allowed = visit.types();
    List<TableMigration> runs = seen(allowed, before(ctx));
    List<TableMigration> shown = runs.subList(0, Math.min(runs.size(), ROWS));
    Listed listed =
        new Listed(
            shown.stream()
                .map(run -> new RunView(run, type(run), journal.steps(run.id())))
                .toList(),
            runs.size() > ROWS ? Optional.of(shown.getLast().id()) : Optional.empty(),
            visit.mayChange(Scope.TABLE_MIGRATIONS_WRITE));
    return Html.page(
        200,
        (out, none) ->
            JtelistGenerated.render(
                out, none, visit.frame(Section.MIGRATIONS, "Table migrations"), listed));
  }

  /** Those that the caller may see, and more than {@link #ROWS} if there are more. */
  private List<TableMigration> seen(AllowedTypes allowed, long before) {
    List<TableMigration> seen = new ArrayList<>();
    long from = before;
    boolean isMore = true;
    while (isMore && seen.size() <= ROWS) {
      List<TableMigration> page = journal.before(from, ROWS);
      page.stream().filter(run -> answers.isOf(allowed, run)).forEach(seen::add);
      isMore = page.size() == ROWS;
      from = isMore ? page.getLast().id() : from;
    }
    return seen;
  }

  private static long before(Context ctx) {
    return Query.of(ctx, BEFORE)
        .number(BEFORE, "This is a number from the page.")
        .orElse(Long.MAX_VALUE);
  }

  private Answer one(Context ctx, Visit visit) {
    Query.none(ctx);
    TableMigration run = run(ctx, visit);
    RunView.Whole whole = whole(run);
    Live.Shown shown = shown(whole);
    RunActions actions = RunActions.of(run, whole.run().steps(), visit);
    return Html.page(
        200,
        (out, none) ->
            JterunGenerated.render(
                out,
                none,
                visit.frame(Section.MIGRATIONS, whole.run().table()),
                whole,
                shown.shape(),
                actions));
  }

  private Answer events(Context ctx, Visit visit) {
    long before = before(ctx);
    TableMigration run = run(ctx, visit);
    RunView view = new RunView(run, type(run), List.of());
    RunView.Whole whole =
        new RunView.Whole(
            view, List.of(), List.of(), Optional.empty(), journal.eventsBefore(run.id(), before));
    return Html.page(
        200,
        (out, none) ->
            JteeventsGenerated.render(
                out, none, visit.frame(Section.MIGRATIONS, "Events of " + view.table()), whole));
  }

  private Answer stream(Context ctx, Visit visit) {
    String shape = Query.of(ctx, SHAPE).text(SHAPE).orElse("");
    TableMigration run = run(ctx, visit);
    long id = run.id();
    int type = run.typeNumber();
    InetAddress client = gate.client(ctx);
    return live.stream(
        ctx,
        visit,
        new Live.Topic("migration " + id, () -> read(id)),
        shape,
        caller ->
            caller.rights().mayComeFrom(client)
                && caller.rights().may(Section.MIGRATIONS.needed())
                && answers.isOf(caller.rights().allowedTypes(), type));
  }

  private TableMigration run(Context ctx, Visit visit) {
    Gate.require(visit, Section.MIGRATIONS.needed());
    return answers.run(ctx.pathParam("id"), visit.types());
  }

  private Live.Shown read(long id) {
    return journal
        .find(id)
        .map(run -> shown(whole(run)))
        .orElseGet(() -> new Live.Shown("gone", Map.of()));
  }

  private RunView.Whole whole(TableMigration run) {
    return new RunView.Whole(
        new RunView(run, type(run), journal.steps(run.id())),
        journal.load(run.id()),
        journal.setAside(run.id()),
        Optional.ofNullable(run.report()).map(json -> Json.MAPPER.readValue(json, Report.class)),
        journal.eventsBefore(run.id(), Long.MAX_VALUE));
  }

  /** The parts of the page that move, by the IDs of the elements that hold them. */
  private static Live.Shown shown(RunView.Whole whole) {
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("progress", Html.text((out, none) -> JteprogressGenerated.render(out, none, whole)));
    parts.put("findings", Html.text((out, none) -> JtefindingsGenerated.render(out, none, whole)));
    parts.put("charts", Html.text((out, none) -> JtechartsGenerated.render(out, none, whole)));
    parts.put("events", Html.text((out, none) -> JteeventRowsGenerated.render(out, none, whole)));
    return new Live.Shown(whole.run().shape(), parts);
  }

  private String type(TableMigration run) {
    return registry.numbered(run.typeNumber()).map(Type::name).orElse("");
  }
}
