package dev.coatcheck.ids.url;

import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Registry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Puts keys instead of the public IDs of a URL.
 *
 * <p>An ID is a whole segment of the path, or all of it before the first {@code .}, {@code :} or
 * {@code ;}, or an item of a comma list that is the value of a query parameter, and has the {@link
 * IdShape shape} of one. All else passes as it is, byte for byte.
 */
public final class UrlResolver {
  private static final int IDS_MAX = 50;

  private final Resolver resolver;
  private final Registry registry;

  public UrlResolver(Resolver resolver, Registry registry) {
    this.resolver = resolver;
    this.registry = registry;
  }

  /** As {@link #resolveAll}, for one. */
  public UrlOutcome resolve(String url) {
    return resolveAll(List.of(url)).getFirst();
  }

  /**
   * Resolves URLs, in their order; the IDs of all together, with at most one query per table.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public List<UrlOutcome> resolveAll(List<String> urls) {
    List<Read> all = urls.stream().map(url -> read(url, this::isOurs)).toList();
    List<String> ids = all.stream().flatMap(Read::ids).map(UrlSlice::text).distinct().toList();
    Map<String, ResolveOutcome> outcomes = HashMap.newHashMap(ids.size());
    if (!ids.isEmpty()) {
      List<ResolveOutcome> resolved = resolver.resolveAll(ids);
      for (int i = 0; i < ids.size(); i++) {
        outcomes.put(ids.get(i), resolved.get(i));
      }
    }
    return all.stream().map(read -> outcome(read, outcomes)).toList();
  }

  private boolean isOurs(UrlSlice slice) {
    return IdShape.isOurs(slice.text(), registry);
  }

  /** A URL after reading: what it asks for, or why it is refused. */
  private sealed interface Read {
    record Sound(UrlParts url, List<UrlSlice> slices) implements Read {}

    record Refused(UrlOutcome.Invalid outcome) implements Read {}

    default Stream<UrlSlice> ids() {
      return switch (this) {
        case Sound(UrlParts _, List<UrlSlice> slices) -> slices.stream();
        case Refused _ -> Stream.empty();
      };
    }
  }

  private static Read read(String text, Predicate<UrlSlice> isId) {
    return switch (UrlParts.parse(text)) {
      case ParsedUrl.Invalid(String why) -> new Read.Refused(new UrlOutcome.Invalid(why));
      case ParsedUrl.Valid(UrlParts url) -> {
        List<UrlSlice> ids =
            Stream.concat(url.segments().stream(), url.values().stream()).filter(isId).toList();
        yield ids.size() > IDS_MAX
            ? new Read.Refused(new UrlOutcome.Invalid("holds more than 50 public IDs"))
            : new Read.Sound(url, ids);
      }
    };
  }

  private static UrlOutcome outcome(Read read, Map<String, ResolveOutcome> outcomes) {
    return switch (read) {
      case Read.Refused(UrlOutcome.Invalid outcome) -> outcome;
      case Read.Sound(UrlParts url, List<UrlSlice> slices) -> {
        List<UrlOutcome.ResolvedId> ids = new ArrayList<>(slices.size());
        for (UrlSlice slice : slices) {
          switch (outcomes.getOrDefault(slice.text(), new ResolveOutcome.Unknown())) {
            case ResolveOutcome.Found(Mapping mapping) ->
                ids.add(new UrlOutcome.ResolvedId(slice.text(), mapping, false));
            case ResolveOutcome.Merged merged ->
                ids.add(new UrlOutcome.ResolvedId(slice.text(), merged.survivor(), true));
            case ResolveOutcome.Revoked revoked -> {
              yield new UrlOutcome.Revoked(revoked);
            }
            case ResolveOutcome.Unknown _ -> {
              yield new UrlOutcome.Unknown();
            }
            case ResolveOutcome.Malformed malformed -> {
              yield new UrlOutcome.Malformed(malformed.reason(), slice.start());
            }
          }
        }
        yield new UrlOutcome.Resolved(
            url.with(slices, ids.stream().map(id -> id.target().key().text()).toList()), ids);
      }
    };
  }
}
