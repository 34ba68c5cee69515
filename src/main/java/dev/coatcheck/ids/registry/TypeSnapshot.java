package dev.coatcheck.ids.registry;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * All types at a moment, by what they are asked for.
 *
 * @param mark which changes were known before they were loaded
 * @param nanos when the load began
 */
record TypeSnapshot(
    ChangeFeed.Mark mark,
    long nanos,
    TypeStore.Revision revision,
    List<Type> all,
    List<Type> older,
    Map<Integer, List<LegacyUrlTemplate>> templates,
    Map<Integer, Type> byNumber,
    Map<String, Type> byName,
    Map<String, Type> byPrefix) {
  static TypeSnapshot of(
      ChangeFeed.Mark mark, long nanos, TypeStore.Revision revision, List<Type> all) {
    return new TypeSnapshot(
        mark,
        nanos,
        revision,
        all,
        all.stream().filter(type -> type.olderSystem().isPresent()).toList(),
        all.stream()
            .flatMap(type -> type.urlTemplates().stream())
            .distinct()
            .collect(Collectors.groupingBy(LegacyUrlTemplate::length)),
        all.stream().collect(Collectors.toUnmodifiableMap(Type::number, type -> type)),
        all.stream().collect(Collectors.toUnmodifiableMap(Type::name, type -> type)),
        all.stream()
            .collect(Collectors.toUnmodifiableMap(type -> type.prefix().value(), type -> type)));
  }

  TypeSnapshot reread(ChangeFeed.Mark mark, long nanos) {
    return new TypeSnapshot(
        mark, nanos, revision, all, older, templates, byNumber, byName, byPrefix);
  }
}
