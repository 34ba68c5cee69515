package dev.coatcheck.api.console.overview;

import dev.coatcheck.api.console.page.Chart;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Live;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.instance.Instance;
import dev.coatcheck.cluster.instance.Instances;
import dev.coatcheck.cluster.lease.WorkerState;
import dev.coatcheck.cluster.lease.Workers;
import dev.coatcheck.core.observe.History;
import dev.coatcheck.core.observe.Measure;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/** How this instance and the others are, {@code /console/overview}. */
public final class OverviewPage {
  private static final String STREAM = "/console/events/overview";

  /** The page has no buttons that come and go. */
  private static final String SHAPE = "";

  private final Gate gate;
  private final Live live;
  private final Verbs verbs;

  /**
   * What the page asks.
   *
   * @param ready whether this instance can answer requests
   */
  public record Verbs(
      Instances instances, Workers workers, History history, BooleanSupplier ready) {}

  /** An instance with the workers that it holds, such as {@code default 3, 4}. */
  record Row(Instance instance, String workers, boolean isThis) {
    /** As often as instances tell of themselves: the time would change each second for nothing. */
    boolean isHeard() {
      return instance.unseen().compareTo(Concern.UNSEEN_MAX) <= 0;
    }
  }

  /** All that the page shows. */
  record View(List<Concern> concerns, List<Row> rows, List<Chart> charts) {
    View {
      concerns = List.copyOf(concerns);
      rows = List.copyOf(rows);
      charts = List.copyOf(charts);
    }
  }

  public OverviewPage(Gate gate, Live live, Verbs verbs) {
    this.gate = gate;
    this.live = live;
    this.verbs = verbs;
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Section.OVERVIEW.path(), gate.page(this::show));
    endpoints.page(HandlerType.GET, STREAM, gate.stream(this::stream));
  }

  private Answer show(Context ctx, Visit visit) {
    Query.none(ctx);
    require(visit);
    View view = view();
    return Html.page(
        200,
        (out, none) ->
            JteoverviewGenerated.render(
                out, none, visit.frame(Section.OVERVIEW, "Overview"), view));
  }

  private static void require(Visit visit) {
    Gate.require(visit, Section.OVERVIEW.needed());
    RequestCaller.requireAllTypes(visit.types()); // the charts count by type
  }

  private Answer stream(Context ctx, Visit visit) {
    Query.none(ctx);
    require(visit);
    InetAddress client = gate.client(ctx);
    return live.stream(
        ctx,
        visit,
        new Live.Topic("overview", () -> shown(view())),
        SHAPE,
        caller -> caller.rights().mayComeFrom(client) && Section.OVERVIEW.isFor(caller.rights()));
  }

  /** The parts of the page that move, by the IDs of the elements that hold them. */
  private static Live.Shown shown(View view) {
    return new Live.Shown(
        SHAPE,
        Map.of(
            "concerns", Html.text((out, none) -> JteconcernsGenerated.render(out, none, view)),
            "instances", Html.text((out, none) -> JteinstancesGenerated.render(out, none, view)),
            "hour", Html.text((out, none) -> JtehourGenerated.render(out, none, view))));
  }

  private View view() {
    List<Instance> instances = verbs.instances().all();
    History history = verbs.history();
    return new View(
        Concern.of(history, verbs.ready().getAsBoolean(), instances),
        rows(instances),
        charts(history));
  }

  private List<Row> rows(List<Instance> instances) {
    Map<String, List<WorkerState>> held =
        verbs.workers().list().stream()
            .filter(worker -> worker.standing() instanceof WorkerState.Standing.Held)
            .collect(Collectors.groupingBy(worker -> worker.standing().holder()));
    return instances.stream()
        .map(
            instance ->
                new Row(
                    instance,
                    byLayout(held.getOrDefault(instance.holder(), List.of())),
                    instance.holder().equals(verbs.instances().holder())))
        .toList();
  }

  private static String byLayout(List<WorkerState> workers) {
    return workers.stream()
        .collect(
            Collectors.groupingBy(
                WorkerState::layout,
                TreeMap::new,
                Collectors.mapping(
                    worker -> Integer.toString(worker.worker()), Collectors.joining(", "))))
        .entrySet()
        .stream()
        .map(layout -> layout.getKey() + ": " + layout.getValue())
        .collect(Collectors.joining("; "));
  }

  private static List<Chart> charts(History history) {
    return List.of(
        chart(history, Measure.REQUESTS, "Requests a second"),
        chart(history, Measure.CACHED, "Of them from memory, without a request thread"),
        chart(history, Measure.MEDIAN_MILLIS, "Median of the others, ms"),
        chart(history, Measure.P99_MILLIS, "Their 99th percentile, ms"),
        chart(history, Measure.CLIENT_ERRORS, "Answers 400 to 499 a second"),
        chart(history, Measure.SERVER_ERRORS, "Answers from 500 on a second"),
        chart(history, Measure.SHED, "Refused as overloaded a second"),
        chart(history, Measure.MINTS, "Mints a second"),
        chart(history, Measure.CACHE_SHARE, "Public IDs resolved from memory, %"),
        chart(history, Measure.CONNECTIONS, "Connections to Postgres in use"),
        chart(history, Measure.WAITING, "Requests that wait for one"),
        chart(history, Measure.FEED_SILENT, "Age of the change feed, s"),
        chart(history, Measure.HEAP_MEGABYTES, "Heap in use, MB"),
        chart(history, Measure.PROCESSOR, "Processors in use, %"));
  }

  private static Chart chart(History history, Measure measure, String label) {
    List<Double> values = history.of(measure);
    return new Chart(label, values, span(values.size()), Optional.empty());
  }

  private static Duration span(int points) {
    return History.STEP.multipliedBy(Math.max(0, points - 1));
  }
}
