package dev.coatcheck.ids.mapping;

import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.Optional;

/** What the database knows of a token. */
sealed interface MappingState {
  MappingState NOTHING = new Nothing();

  /** No row. */
  record Nothing() implements MappingState {}

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

  record Merged(StoredMapping row, StoredMapping survivor, Instant endedAt) implements Known {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Merged(row.of(type), survivor.of(type), endedAt);
    }
  }
}
