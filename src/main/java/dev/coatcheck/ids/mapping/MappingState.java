package dev.coatcheck.ids.mapping;

import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The state of a token in the database. */
sealed interface MappingState {
  /** The outcome for a public ID of the type. A row of another type counts as no row. */
  default ResolveOutcome outcome(Type type) {
    return switch (this) {
      case Known known when known.row().typeNumber() == type.number() -> known.of(type);
      case Computed(StoredMapping row) when type.isSealed(row.token()) ->
          new Active(row).outcome(type);
      case Known _, Computed _, Nothing _ -> new ResolveOutcome.Unknown();
    };
  }

  /**
   * The subjects of the changes that make this state stale. A merged ID depends on its survivor
   * too; an unknown ID may be imported.
   */
  default List<String> subjectsOfChange() {
    return switch (this) {
      case Merged(StoredMapping row, StoredMapping survivor, _) ->
          List.of(row.id().subjectOfChange(), survivor.id().subjectOfChange());
      case Nothing _ -> List.of(Resolver.IMPORTED);
      case Computed(StoredMapping row) -> List.of(row.id().subjectOfChange(), Resolver.IMPORTED);
      case Known known -> List.of(known.row().id().subjectOfChange());
    };
  }

  /** No row. */
  record Nothing() implements MappingState {}

  /**
   * No row, but the seal key of an era opens the token, for as long as that is not closed.
   *
   * @param row as it would be
   */
  record Computed(StoredMapping row) implements MappingState {}

  /** A row, and how it ended if it did. */
  sealed interface Known extends MappingState {
    StoredMapping row();

    ResolveOutcome of(Type type);
  }

  record Active(StoredMapping row) implements Known {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Found(row.of(type));
    }
  }

  record Revoked(StoredMapping row, Optional<String> reason, Instant endedAt) implements Known {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Revoked(row.of(type), reason, endedAt);
    }
  }

  record Erased(StoredMapping row) implements Known {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Erased(type);
    }
  }

  record Merged(StoredMapping row, StoredMapping survivor, Instant endedAt) implements Known {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Merged(row.of(type), survivor.of(type), endedAt);
    }
  }
}
