package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.body.EventStreams;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.change.Change;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.ChangeMeaning;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The change feed for applications that keep answers: {@code GET /v1/changes}, a list or
 * server-sent events.
 *
 * <h2>Why no application serves an ended public ID</h2>
 *
 * A head names a moment, in milliseconds after the request arrived: all changes that were committed
 * before it have been sent. The application counts from when it sent the request, which was
 * earlier, and trusts its answers for 1.9 s from there. So a head that the network delays can only
 * shorten the trust.
 */
public final class ChangeRoutes implements Routes, AutoCloseable {
  static final int STREAMS_MAX = 1_000;
  private static final String PATH = "/v1/changes";

  /** Of a long backlog, so that the texts of many streams take little memory. */
  private static final int AT_ONCE_MAX = 500;

  /** How long a stream waits for a poll of the feed, which comes twice a second. */
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Of a feed that has heard nothing yet. */
  private static final long SILENT_MILLIS_MAX = TimeUnit.DAYS.toMillis(1);

  private final ChangeFeed feed;
  private final Registry registry;
  private final EventStreams streams;

  public ChangeRoutes(ChangeFeed feed, Registry registry, Observer observer) {
    this.feed = feed;
    this.registry = registry;
    this.streams = new EventStreams("changes", "streams of changes", STREAMS_MAX, observer);
    feed.onPoll(streams::wake);
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.lasting(HandlerType.GET, PATH, Scope.IDS_READ, this::changes);
  }

  /** What a stream sends at a time, and a list holds. */
  private record Part(List<ChangeView> changes, long until, boolean isAll) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ChangeView(
      long number,
      String kind,
      String type,
      String prefix,
      @Nullable String id,
      @Nullable String scheme,
      @Nullable String value) {
    static ChangeView of(long number, String kind, Type type) {
      return new ChangeView(number, kind, type.name(), type.prefix().value(), null, null, null);
    }

    ChangeView ofId(PublicId ended) {
      return new ChangeView(number, kind, type, prefix, ended.toString(), null, null);
    }

    ChangeView ofAlias(AliasScheme removed, String text) {
      return new ChangeView(number, kind, type, prefix, null, removed.wireName(), text);
    }
  }

  /**
   * @param types that the stream is about; null for all
   */
  private record StartView(long knownMillis, @Nullable List<String> types) {
    static StartView of(ChangeFeed.Start start, AllowedTypes allowed) {
      return new StartView(start.known().toMillis(), names(allowed));
    }
  }

  private record HeadView(long asOfMillis) {}

  private record ListedView(
      String object,
      List<ChangeView> data,
      boolean hasMore,
      long number,
      long knownMillis,
      @Nullable List<String> types,
      @Nullable Long asOfMillis) {}

  private static @Nullable List<String> names(AllowedTypes allowed) {
    return allowed.names().map(names -> names.stream().sorted().toList()).orElse(null);
  }

  private Answer changes(Context ctx) {
    long cameNano = System.nanoTime();
    Optional<Long> given = EventStreams.after(ctx);
    ChangeFeed.Start start = feed.start();
    long after = given.orElse(start.after());
    long asOfMillis = asOfMillis(cameNano);
    Optional<List<Change>> changes = feed.after(after, AT_ONCE_MAX);
    if (changes.isEmpty()) {
      return Answer.of(
          Problem.of(
              ProblemCode.CHANGES_FORGOTTEN,
              "Some changes after this number are no longer remembered. Drop what you keep, and"
                  + " send the request without a number."));
    }
    if (EventStreams.areAccepted(ctx)) {
      RequestCaller request = RequestCaller.of(ctx);
      Follower follower = new Follower(request, cameNano, after);
      return streams.open(ctx, request.caller().chain(), stream -> follower.follow(stream, start));
    }
    return list(start, part(changes.get(), after, RequestCaller.types(ctx)), ctx, asOfMillis);
  }

  private static Answer list(ChangeFeed.Start start, Part part, Context ctx, long asOfMillis) {
    return Answer.json(
        200,
        new ListedView(
            "list",
            part.changes(),
            !part.isAll(),
            part.until(),
            start.known().toMillis(),
            names(RequestCaller.types(ctx)),
            part.isAll() ? asOfMillis : null));
  }

  /** Those of the changes that the caller may see, up to one of a type that isn't loaded yet. */
  private Part part(List<Change> changes, long after, AllowedTypes allowed) {
    List<ChangeView> told = new ArrayList<>();
    long until = after;
    for (Change change : changes) {
      ChangeMeaning meaning = ChangeMeaning.of(change, registry);
      if (meaning instanceof ChangeMeaning.TypeNotLoaded) {
        return new Part(told, until, false);
      }
      view(change.number(), meaning).filter(view -> allowed.hold(view.type())).ifPresent(told::add);
      until = change.number();
    }
    return new Part(told, until, changes.size() < AT_ONCE_MAX);
  }

  private static Optional<ChangeView> view(long number, ChangeMeaning meaning) {
    return switch (meaning) {
      case ChangeMeaning.Ended(Type type, PublicId id) ->
          Optional.of(ChangeView.of(number, "ending", type).ofId(id));
      case ChangeMeaning.AliasRemoved(Type type, AliasScheme scheme, String value) ->
          Optional.of(ChangeView.of(number, "alias", type).ofAlias(scheme, value));
      case ChangeMeaning.TypeChanged(Type type) -> Optional.of(ChangeView.of(number, "type", type));
      case ChangeMeaning.Nothing _, ChangeMeaning.TypeNotLoaded _ -> Optional.empty();
    };
  }

  /**
   * When the last poll was sent, in the time of the request. The time of the request is read first,
   * so that a pause in between makes the moment earlier, never later.
   */
  private long asOfMillis(long cameNano) {
    long agoMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - cameNano);
    return agoMillis - Math.min(feed.silent().toMillis() + 1, SILENT_MILLIS_MAX);
  }

  /** One stream on its way through the feed. */
  private final class Follower {
    private final RequestCaller request;
    private final AllowedTypes allowed;
    private final long cameNano;
    private long after;

    private Follower(RequestCaller request, long cameNano, long after) {
      this.request = request;
      this.allowed = request.caller().rights().allowedTypes();
      this.cameNano = cameNano;
      this.after = after;
    }

    /**
     * Sends until the client's rights change or what comes next is forgotten: then it asks again.
     */
    private void follow(EventStreams.Stream stream, ChangeFeed.Start start)
        throws IOException, InterruptedException {
      stream.send(EventStreams.event(after, "start", StartView.of(start, allowed)));
      while (!stream.isStopped()) {
        long asOfMillis = asOfMillis(cameNano); // before the changes, which may be younger
        Optional<List<Change>> changes = feed.after(after, AT_ONCE_MAX);
        if (changes.isEmpty() || !isStillAllowed()) {
          return;
        }
        Part part = part(changes.get(), after, allowed);
        boolean isStuck = part.until() == after;
        after = part.until();
        String text =
            part.changes().stream()
                    .map(view -> EventStreams.event(view.number(), view.kind(), view))
                    .collect(Collectors.joining())
                + (part.isAll() ? EventStreams.event(after, "head", new HeadView(asOfMillis)) : "");
        if (!text.isEmpty()) {
          stream.send(text);
        }
        if (part.isAll() || isStuck) {
          stream.await(WAIT_NANOS);
        }
      }
    }

    private boolean isStillAllowed() {
      try {
        return request.mayGoOn();
      } catch (DatabaseUnavailable outage) {
        return false;
      }
    }
  }

  /** Ends all streams. Otherwise a graceful stop would wait for them. */
  @Override
  public void close() {
    streams.close();
  }
}
