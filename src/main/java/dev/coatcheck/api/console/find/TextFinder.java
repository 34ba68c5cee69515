package dev.coatcheck.api.console.find;

import dev.coatcheck.api.console.audit.AuditPages;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.AliasTarget;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Finds the public IDs that a text can stand for: a public ID of ours or of an older system, a key,
 * a legacy ID, a client ID. Asks for all types at once, and counts no legacy hits.
 */
final class TextFinder {
  /** No ID of ours is longer. */
  static final int LENGTH_MAX = 255;

  private static final int FINDINGS_MAX = 20;
  private static final int MERGED_MAX = 8;
  private static final String PUBLIC_ID = "public ID";
  private static final String OLDER_PUBLIC_ID = "older public ID";

  private final FindPages.Verbs verbs;

  TextFinder(FindPages.Verbs verbs) {
    this.verbs = verbs;
  }

  /**
   * @param more how many public IDs are left out of the findings
   * @param erased public IDs that were erased
   * @param unissued a type whose public ID the text could be, and which never issued it
   */
  record Found(List<Finding> findings, int more, List<Erased> erased, Optional<String> unissued) {
    Found {
      findings = List.copyOf(findings);
      erased = List.copyOf(erased);
    }
  }

  /**
   * A public ID that was erased.
   *
   * @param as what the text was of it: its public ID, or an alias, which names it no more
   */
  record Erased(String type, String as) {
    boolean isNamed() {
      return as.equals(PUBLIC_ID);
    }
  }

  /** What one look-up says about the text. */
  private static final class Sightings {
    private final Map<IdText.OfToken, List<String>> all = new LinkedHashMap<>();
    private final List<Erased> erased = new ArrayList<>();

    void add(Type type, Token token, String as) {
      List<String> names =
          all.computeIfAbsent(new IdText.OfToken(type, token), _ -> new ArrayList<>());
      if (!names.contains(as)) {
        names.add(as);
      }
    }
  }

  /**
   * Finds only public IDs of types that the caller may use.
   *
   * @param asStranger a request for a link, without an API key
   */
  Found find(String text, Caller caller, Asked asStranger) {
    Sightings sightings = new Sightings();
    Map<TypedKey, Type> keys = new LinkedHashMap<>();
    Map<Alias, Type> aliases = new LinkedHashMap<>();
    AllowedTypes allowed = caller.rights().allowedTypes();
    IdText parsed = verbs.parser().parse(text, allowed);
    switch (parsed) {
      case IdText.OfRule(OlderId.LegacyId id) -> aliases.put(id.alias(), id.type());
      case IdText.OfRule(OlderId.OfKey(Type type, Key key)) ->
          keys.put(TypedKey.of(type, key), type);
      case IdText.OfRow _ -> {
        switch (verbs.resolver().parse(text, allowed)) {
          case IdText.OfToken(Type type, Token token) ->
              sightings.add(
                  type, token, parsed instanceof IdText.OfToken ? PUBLIC_ID : OLDER_PUBLIC_ID);
          case IdText.OfErased(Type type) ->
              sightings.erased.add(new Erased(type.name(), OLDER_PUBLIC_ID));
          case IdText.Unissued _ -> {}
        }
      }
    }
    String ofRule = parsed instanceof IdText.OfRule ? OLDER_PUBLIC_ID : "";
    for (Type type : verbs.registry().all()) {
      type.keyKind().parse(text).ifPresent(key -> keys.putIfAbsent(TypedKey.of(type, key), type));
      if (AliasScheme.LEGACY.accepts(text)) {
        aliases.putIfAbsent(Alias.of(type, AliasScheme.LEGACY, text), type);
      }
      if (AliasScheme.CLIENT.accepts(text)) {
        Namespace.unnamed(type.clientNames(), caller.principal())
            .ifPresent(namespace -> aliases.put(Alias.client(type, namespace, text), type));
      }
    }
    keys.values().removeIf(type -> !allowed.hold(type));
    aliases.values().removeIf(type -> !allowed.hold(type));
    addKeys(keys, ofRule, sightings);
    addAliases(aliases, ofRule, sightings);
    sightings.all.keySet().removeIf(id -> !allowed.hold(id.type()));
    return resolved(sightings, caller, asStranger);
  }

  private void addKeys(Map<TypedKey, Type> keys, String ofRule, Sightings sightings) {
    if (keys.isEmpty()) {
      return;
    }
    Map<TypedKey, StoredMapping> rows = verbs.lookup().byKey(List.copyOf(keys.keySet()));
    keys.forEach(
        (key, type) -> {
          StoredMapping row = rows.get(key);
          if (row != null) {
            sightings.add(type, row.token(), ofRule.isEmpty() ? "key" : ofRule);
          }
        });
  }

  private void addAliases(Map<Alias, Type> aliases, String ofRule, Sightings sightings) {
    if (aliases.isEmpty()) {
      return;
    }
    Map<Alias, AliasTarget> targets = verbs.aliases().targets(aliases);
    aliases.forEach(
        (alias, type) -> {
          String as = ofRule.isEmpty() ? name(alias.scheme()) : ofRule;
          switch (targets.get(alias)) {
            case null -> {}
            case AliasTarget.Issued(Token token) -> sightings.add(type, token, as);
            case AliasTarget.Erased _ -> sightings.erased.add(new Erased(type.name(), as));
          }
        });
  }

  private static String name(AliasScheme scheme) {
    return switch (scheme) {
      case LEGACY -> "legacy ID";
      case CLIENT -> "client ID";
      case PUBLIC -> OLDER_PUBLIC_ID;
    };
  }

  private Found resolved(Sightings sightings, Caller caller, Asked asStranger) {
    List<IdText.OfToken> ids = sightings.all.keySet().stream().limit(FINDINGS_MAX).toList();
    List<ResolveOutcome> outcomes = verbs.resolver().resolveAll(List.copyOf(ids));
    List<Finding> findings = new ArrayList<>();
    List<Erased> erased = new ArrayList<>(sightings.erased);
    Optional<String> unissued = Optional.empty();
    for (int i = 0; i < ids.size(); i++) {
      List<String> as = sightings.all.getOrDefault(ids.get(i), List.of());
      switch (outcomes.get(i)) {
        case ResolveOutcome.Found(Mapping mapping) ->
            findings.add(finding(as, mapping, Optional.empty(), caller, asStranger));
        case ResolveOutcome.Ended ended ->
            findings.add(finding(as, ended.mapping(), Optional.of(ended), caller, asStranger));
        case ResolveOutcome.Erased(Type type) -> erased.add(new Erased(type.name(), as.getFirst()));
        case ResolveOutcome.Unissued _ -> unissued = Optional.of(ids.get(i).type().name());
      }
    }
    return new Found(findings, sightings.all.size() - ids.size(), erased, unissued);
  }

  private Finding finding(
      List<String> as,
      Mapping mapping,
      Optional<ResolveOutcome.Ended> ended,
      Caller caller,
      Asked asStranger) {
    String id = mapping.publicId().toString();
    Answer link = verbs.redirects().redirect(id, asStranger);
    return new Finding(
        as,
        mapping,
        ended,
        verbs.aliases().of(mapping.type(), mapping.token()),
        graph(mapping, ended),
        AuditPages.about(id, verbs.audit(), caller.rights()),
        link.status(),
        link.headers());
  }

  private Optional<MergeGraph> graph(Mapping mapping, Optional<ResolveOutcome.Ended> ended) {
    Optional<Mapping> survivor =
        ended.isEmpty()
            ? Optional.of(mapping)
            : ended
                .filter(ResolveOutcome.Merged.class::isInstance)
                .map(ResolveOutcome.Merged.class::cast)
                .map(ResolveOutcome.Merged::survivor);
    Function<Mapping, MergeGraph> drawn =
        into ->
            MergeGraph.of(
                into.publicId().toString(),
                verbs.lookup().mergedInto(into, MERGED_MAX + 1).stream()
                    .map(Object::toString)
                    .toList(),
                mapping.publicId().toString(),
                MERGED_MAX);
    return survivor.map(drawn).filter(graph -> !graph.merged().isEmpty());
  }
}
