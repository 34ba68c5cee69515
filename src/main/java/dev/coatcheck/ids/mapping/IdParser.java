package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Finds out what a text asks for. A public ID of ours says so itself; a text that is none, and that
 * a type's public pattern describes, is looked up among the names of an older system.
 */
public final class IdParser {
  private final Registry registry;
  private final Aliases aliases;

  IdParser(Registry registry, Aliases aliases) {
    this.registry = registry;
    this.aliases = aliases;
  }

  /** A text after parsing: which token it stands for, or why none. */
  public sealed interface ParsedToken {
    record Wanted(Type type, Token token) implements ParsedToken {}

    record Refused(ResolveOutcome.Unissued outcome) implements ParsedToken {}
  }

  /** A text on the way: it may have to be looked up. */
  private sealed interface Step {
    record Done(ParsedToken parsed) implements Step {}

    record Foreign(Map<Alias, Type> names) implements Step {}
  }

  /** Which token has an alias. */
  Optional<Token> target(Type type, Alias alias) {
    return aliases.target(type, alias);
  }

  /** Only as a text of one of these types. */
  ParsedToken parse(String text, Predicate<Type> types) {
    return switch (step(text, types)) {
      case Step.Done(ParsedToken parsed) -> parsed;
      case Step.Foreign(Map<Alias, Type> names) -> lookedUp(names, targets(names));
    };
  }

  /** The tokens of those names, each of its type, that are taken. */
  Map<Alias, Token> targets(Map<Alias, Type> names) {
    return names.isEmpty() ? Map.of() : aliases.targets(names);
  }

  /** Parses all, with at most one query. */
  List<ParsedToken> parseAll(List<String> texts) {
    List<Step> steps = texts.stream().map(text -> step(text, _ -> true)).toList();
    Map<Alias, Type> foreign = new LinkedHashMap<>();
    for (Step step : steps) {
      if (step instanceof Step.Foreign(Map<Alias, Type> names)) {
        foreign.putAll(names);
      }
    }
    Map<Alias, Token> targets = targets(foreign);
    return steps.stream()
        .map(
            step ->
                switch (step) {
                  case Step.Done(ParsedToken parsed) -> parsed;
                  case Step.Foreign(Map<Alias, Type> names) -> lookedUp(names, targets);
                })
        .toList();
  }

  private Step step(String text, Predicate<Type> types) {
    return switch (PublicId.parse(text)) {
      case ParsedId.Valid(PublicId id) ->
          registry
              .withPrefix(id.prefix())
              .filter(types)
              .<Step>map(type -> new Step.Done(new ParsedToken.Wanted(type, id.token())))
              .orElseGet(
                  () -> foreignOr(text, new ParsedId.Malformed(ParsedId.Reason.PREFIX, 0), types));
      case ParsedId.Malformed malformed -> foreignOr(text, malformed, types);
    };
  }

  private Step foreignOr(String text, ParsedId.Malformed malformed, Predicate<Type> types) {
    Map<Alias, Type> names = foreign(text, types);
    return names.isEmpty() ? new Step.Done(refused(malformed)) : new Step.Foreign(names);
  }

  /** The names that the text may be: one for each type whose pattern describes it. */
  private Map<Alias, Type> foreign(String text, Predicate<Type> types) {
    Map<Alias, Type> names = new LinkedHashMap<>();
    if (AliasScheme.PUBLIC.accepts(text)) {
      for (Type type : registry.withOlderSystem()) {
        if (types.test(type)
            && type.publicPattern().filter(pattern -> pattern.matches(text)).isPresent()) {
          names.put(Alias.of(type, AliasScheme.PUBLIC, text), type);
        }
      }
    }
    return names;
  }

  private static ParsedToken lookedUp(Map<Alias, Type> names, Map<Alias, Token> targets) {
    for (Map.Entry<Alias, Type> name : names.entrySet()) {
      Token token = targets.get(name.getKey());
      if (token != null) {
        return new ParsedToken.Wanted(name.getValue(), token);
      }
    }
    return new ParsedToken.Refused(new ResolveOutcome.Unknown());
  }

  private static ParsedToken refused(ParsedId.Malformed malformed) {
    return new ParsedToken.Refused(
        new ResolveOutcome.Malformed(malformed.reason(), malformed.position()));
  }
}
