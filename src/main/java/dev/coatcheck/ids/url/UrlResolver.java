package dev.coatcheck.ids.url;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.redirect.LegacyId;
import dev.coatcheck.ids.redirect.LegacyLookup;
import dev.coatcheck.ids.redirect.OlderId;
import dev.coatcheck.ids.registry.Registry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Puts keys instead of the IDs of a URL.
 *
 * <p>A public ID is a whole segment of the path, or all of it before the first {@code .}, {@code :}
 * or {@code ;}, or an item of a comma list that is the value of a query parameter, and has the
 * {@link IdShape shape} of one, or is of an older system and has its text prefix. A legacy ID is a
 * number, or a public ID of the older system, where a URL template of a type has one. All else
 * passes as it is, byte for byte.
 */
public final class UrlResolver {
  private static final int IDS_MAX = 50;

  private final Resolver resolver;
  private final LegacyLookup legacy;
  private final Registry registry;

  UrlResolver(Resolver resolver, LegacyLookup legacy, Registry registry) {
    this.resolver = resolver;
    this.legacy = legacy;
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
    return resolveRead(urls.stream().map(this::read).toList());
  }

  /** A URL after reading: what it asks for, or why it is refused. */
  sealed interface Read {
    record Sound(UrlParts url, List<UrlId> ids) implements Read {}

    record Refused(UrlOutcome.Refused outcome) implements Read {}

    default Stream<UrlId> all() {
      return switch (this) {
        case Sound(UrlParts _, List<UrlId> ids) -> ids.stream();
        case Refused _ -> Stream.empty();
      };
    }
  }

  Read read(String text) {
    return switch (UrlParts.parse(text)) {
      case ParsedUrl.Invalid(String why) -> new Read.Refused(new UrlOutcome.Invalid(why));
      case ParsedUrl.Valid(UrlParts url) -> {
        List<UrlId> ids = UrlId.in(url, registry);
        yield ids.size() > IDS_MAX
            ? new Read.Refused(new UrlOutcome.Invalid("holds more than 50 IDs"))
            : new Read.Sound(url, ids);
      }
    };
  }

  /** As {@link #resolve}, for a URL that was read before. */
  UrlOutcome resolve(Read read) {
    return resolveRead(List.of(read)).getFirst();
  }

  private List<UrlOutcome> resolveRead(List<Read> all) {
    List<String> ids =
        all.stream()
            .flatMap(Read::all)
            .filter(UrlId.Public.class::isInstance)
            .map(id -> id.slice().text())
            .distinct()
            .toList();
    List<OlderId> legacyIds =
        all.stream()
            .flatMap(Read::all)
            .filter(UrlId.Legacy.class::isInstance)
            .map(id -> ((UrlId.Legacy) id).id())
            .toList();
    if (!ids.isEmpty() && !legacyIds.isEmpty()) {
      NonBlockingAttempt.leave(); // the first look-up is counted before the second one may wait
    }
    Found found = new Found(findPublic(ids), findLegacy(legacyIds));
    return all.stream().map(read -> outcome(read, found)).toList();
  }

  private Map<String, ResolveOutcome> findPublic(List<String> ids) {
    return ids.isEmpty() ? Map.of() : byQuestion(ids, resolver.resolveAll(ids));
  }

  private Map<OlderId, ResolveOutcome> findLegacy(List<OlderId> ids) {
    return ids.isEmpty() ? Map.of() : byQuestion(ids, legacy.findAll(ids));
  }

  private static <Q> Map<Q, ResolveOutcome> byQuestion(
      List<Q> questions, List<ResolveOutcome> answers) {
    Map<Q, ResolveOutcome> outcomes = HashMap.newHashMap(questions.size());
    for (int i = 0; i < questions.size(); i++) {
      outcomes.put(questions.get(i), answers.get(i));
    }
    return outcomes;
  }

  /** What the IDs of all URLs stand for. */
  private record Found(Map<String, ResolveOutcome> byId, Map<OlderId, ResolveOutcome> byLegacyId) {

    ResolveOutcome of(UrlId id) {
      return switch (id) {
        case UrlId.Public(UrlSlice slice) -> requireNonNull(byId.get(slice.text()));
        case UrlId.Legacy(UrlSlice _, OlderId older) -> requireNonNull(byLegacyId.get(older));
        case UrlId.MalformedLegacy _ -> new ResolveOutcome.Unknown();
      };
    }
  }

  private static UrlOutcome outcome(Read read, Found found) {
    return switch (read) {
      case Read.Refused(UrlOutcome.Refused outcome) -> outcome;
      case Read.Sound(UrlParts url, List<UrlId> ids) -> {
        List<UrlOutcome.ResolvedId> resolved = new ArrayList<>(ids.size());
        for (UrlId id : ids) {
          switch (found.of(id)) {
            case ResolveOutcome.Found(Mapping mapping) -> resolved.add(resolved(id, mapping));
            case ResolveOutcome.Merged merged -> resolved.add(resolved(id, merged));
            case ResolveOutcome.Revoked revoked -> {
              yield new UrlOutcome.Revoked(revoked);
            }
            case ResolveOutcome.Unknown _ -> {
              yield unknown(id);
            }
            case ResolveOutcome.Malformed malformed -> {
              yield new UrlOutcome.Malformed(malformed.reason(), id.slice().start());
            }
          }
        }
        yield new UrlOutcome.Resolved(
            url.with(
                ids.stream().map(UrlId::slice).toList(),
                resolved.stream().map(id -> id.target().key().text()).toList()),
            publicUrl(url, ids, resolved),
            resolved);
      }
    };
  }

  private static UrlOutcome.ResolvedId resolved(UrlId id, Mapping mapping) {
    return new UrlOutcome.ResolvedId(text(id, mapping), number(id), mapping, false);
  }

  private static UrlOutcome.ResolvedId resolved(UrlId id, ResolveOutcome.Merged merged) {
    return new UrlOutcome.ResolvedId(
        text(id, merged.mapping()), number(id), merged.survivor(), true);
  }

  private static String text(UrlId id, Mapping mapping) {
    return id instanceof UrlId.Public(UrlSlice slice)
        ? slice.text()
        : mapping.publicId().toString();
  }

  private static OptionalLong number(UrlId id) {
    return id instanceof UrlId.Legacy(UrlSlice _, LegacyId legacyId)
        ? OptionalLong.of(legacyId.number())
        : OptionalLong.empty();
  }

  private static UrlOutcome.Refused unknown(UrlId id) {
    return switch (id) {
      case UrlId.Public _ -> new UrlOutcome.Unknown();
      case UrlId.Legacy _ -> new UrlOutcome.LegacyUnknown();
      case UrlId.MalformedLegacy _ -> new UrlOutcome.LegacyMalformed();
    };
  }

  /** The URL with public IDs in the places of its legacy IDs; empty if it has none. */
  private static Optional<String> publicUrl(
      UrlParts url, List<UrlId> ids, List<UrlOutcome.ResolvedId> resolved) {
    List<UrlSlice> slices = new ArrayList<>();
    List<String> publicIds = new ArrayList<>();
    for (int i = 0; i < ids.size(); i++) {
      if (ids.get(i) instanceof UrlId.Legacy) {
        slices.add(ids.get(i).slice());
        publicIds.add(resolved.get(i).target().publicId().toString());
      }
    }
    return slices.isEmpty() ? Optional.empty() : Optional.of(url.with(slices, publicIds));
  }
}
