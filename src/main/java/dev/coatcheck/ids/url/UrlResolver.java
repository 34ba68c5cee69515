package dev.coatcheck.ids.url;

import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.IdOutcome;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.redirect.LegacyCaller;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.registry.Registry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Replaces the IDs of a URL by keys.
 *
 * <p>A public ID is a whole segment of the path, or all of it before the first {@code .}, {@code :}
 * or {@code ;}, or an item of a comma list that is the value of a query parameter, and has the
 * {@linkplain UrlId.Public shape} of one, or is of an older system and has its text prefix. A
 * legacy ID is a number, or a public ID of the older system, where a URL template of a type has
 * one. Everything else passes unchanged, byte for byte.
 */
public final class UrlResolver {
  private static final int IDS_MAX = 50;

  private final IdResolver resolver;
  private final Registry registry;
  private final IdParser parser;

  public UrlResolver(IdResolver resolver, Registry registry, IdParser parser) {
    this.resolver = resolver;
    this.registry = registry;
    this.parser = parser;
  }

  /** The same, for a trial: it counts neither legacy hits nor their callers. */
  public UrlResolver uncounted() {
    return new UrlResolver(resolver.uncounted(), registry, parser);
  }

  /** Says what a URL holds, ID by ID, and why. As {@link #resolve}, but for people. */
  public UrlReading explain(String url, AllowedTypes allowed, LegacyCaller caller) {
    return switch (read(url, allowed)) {
      case Read.Refused(UrlOutcome.Refused outcome) -> new UrlReading.Refused(outcome);
      case Read.Sound(UrlParts parts, List<UrlId> ids) ->
          new UrlReading.Sound(
              parts.requestUri(),
              UrlId.fitting(parts, registry).stream().map(Object::toString).toList(),
              ids.stream().map(id -> part(id, caller)).toList());
    };
  }

  private UrlReading.Part part(UrlId id, LegacyCaller caller) {
    String text = id.slice().unicodeText();
    return switch (id) {
      case UrlId.Public(UrlSlice _, IdText.OfRow row) ->
          new UrlReading.PublicId(text, found(row, caller));
      case UrlId.Legacy(UrlSlice _, OlderId older) ->
          new UrlReading.LegacyId(text, older.type(), found(new IdText.OfRule(older), caller));
      case UrlId.MalformedLegacy _ -> new UrlReading.MalformedLegacyId(text);
    };
  }

  private IdOutcome found(IdText text, LegacyCaller caller) {
    return resolver.resolveParsed(List.of(text), caller).getFirst();
  }

  /** As {@link #resolveAll}, for one URL. */
  public UrlOutcome resolve(String url, AllowedTypes allowed, LegacyCaller caller) {
    return resolveAll(List.of(url), allowed, caller).getFirst();
  }

  /**
   * Resolves URLs, in their order, for a caller who may use these types. All their IDs take at most
   * one query per table.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public List<UrlOutcome> resolveAll(List<String> urls, AllowedTypes allowed, LegacyCaller caller) {
    return resolveRead(urls.stream().map(url -> read(url, allowed)).toList(), caller);
  }

  /** A parsed URL: what it asks for, or why it is refused. */
  sealed interface Read {
    record Sound(UrlParts url, List<UrlId> ids) implements Read {}

    record Refused(UrlOutcome.Refused outcome) implements Read {}
  }

  Read read(String text, AllowedTypes allowed) {
    return switch (UrlParts.parse(text)) {
      case UrlParts.Parsed.Invalid(String why) -> new Read.Refused(new UrlOutcome.Invalid(why));
      case UrlParts.Parsed.Valid(UrlParts url) -> {
        if (!UrlId.areAllowed(url, registry, allowed)) {
          yield new Read.Refused(new UrlOutcome.NotAllowed());
        }
        List<UrlId> ids = UrlId.in(url, registry, each -> parser.parse(each, allowed));
        yield ids.size() > IDS_MAX
            ? new Read.Refused(new UrlOutcome.Invalid("holds more than 50 IDs"))
            : new Read.Sound(url, ids);
      }
    };
  }

  /** As {@link #resolve}, for a URL that was read before. */
  UrlOutcome resolve(Read read, LegacyCaller caller) {
    return resolveRead(List.of(read), caller).getFirst();
  }

  private List<UrlOutcome> resolveRead(List<Read> all, LegacyCaller caller) {
    List<IdText> texts = new ArrayList<>();
    for (Read read : all) {
      if (read instanceof Read.Sound(UrlParts _, List<UrlId> ids)) {
        for (UrlId id : ids) {
          texts.add(
              switch (id) {
                case UrlId.Public(UrlSlice _, IdText.OfRow text) -> text;
                case UrlId.Legacy(UrlSlice _, OlderId older) -> new IdText.OfRule(older);
                case UrlId.MalformedLegacy _ -> new IdText.Unissued(new ResolveOutcome.Unknown());
              });
        }
      }
    }
    Iterator<IdOutcome> found = resolver.resolveParsed(texts, caller).iterator();
    return all.stream().map(read -> outcome(read, found)).toList();
  }

  /** Builds the outcome from what was found for the IDs of the URL. */
  private static UrlOutcome outcome(Read read, Iterator<IdOutcome> found) {
    return switch (read) {
      case Read.Refused(UrlOutcome.Refused outcome) -> outcome;
      case Read.Sound(UrlParts url, List<UrlId> ids) ->
          outcome(url, ids, ids.stream().map(_ -> found.next()).toList());
    };
  }

  private static UrlOutcome outcome(UrlParts url, List<UrlId> ids, List<IdOutcome> found) {
    List<ResolveOutcome> outcomes = new ArrayList<>(found.size());
    for (IdOutcome each : found) {
      switch (each) {
        case IdOutcome.Resolved(ResolveOutcome outcome) -> outcomes.add(outcome);
        case LegacyPaused paused -> {
          return new UrlOutcome.LegacyBrownout(paused);
        }
      }
    }
    return resolved(url, ids, outcomes);
  }

  private static UrlOutcome resolved(UrlParts url, List<UrlId> ids, List<ResolveOutcome> found) {
    List<UrlOutcome.ResolvedId> resolved = new ArrayList<>(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      UrlId id = ids.get(i);
      switch (found.get(i)) {
        case ResolveOutcome.Found(Mapping mapping) ->
            resolved.add(new UrlOutcome.ResolvedId(text(id, mapping), number(id), mapping, false));
        case ResolveOutcome.Merged merged ->
            resolved.add(
                new UrlOutcome.ResolvedId(
                    text(id, merged.mapping()), number(id), merged.survivor(), true));
        case ResolveOutcome.Revoked revoked -> {
          return new UrlOutcome.Revoked(revoked);
        }
        case ResolveOutcome.Erased _ -> {
          return new UrlOutcome.Erased();
        }
        case ResolveOutcome.Unknown _, ResolveOutcome.NotAllowed _ -> {
          return unknown(id);
        }
        case ResolveOutcome.Malformed malformed -> {
          return new UrlOutcome.Malformed(malformed.reason(), id.slice().start());
        }
      }
    }
    return new UrlOutcome.Resolved(
        url.with(
            ids.stream().map(UrlId::slice).toList(),
            resolved.stream().map(id -> id.target().key().text()).toList()),
        publicUrl(url, ids, resolved),
        resolved);
  }

  private static String text(UrlId id, Mapping mapping) {
    return id instanceof UrlId.Public ? id.slice().text() : mapping.publicId().toString();
  }

  private static OptionalLong number(UrlId id) {
    return id instanceof UrlId.Legacy(UrlSlice _, OlderId.LegacyId legacyId)
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

  /** The URL with public IDs instead of its legacy IDs; empty if it has none. */
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
