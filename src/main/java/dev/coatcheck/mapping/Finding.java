package dev.coatcheck.mapping;

import dev.coatcheck.registry.Type;
import java.time.Instant;
import java.util.Optional;

/** What the database knows of a token: its row, and how it ended if it did. */
sealed interface Finding {
  StoredMapping row();

  ResolveOutcome of(Type type);

  record Active(StoredMapping row) implements Finding {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Found(row.of(type));
    }
  }

  record Revoked(StoredMapping row, Optional<String> reason, Instant endedAt) implements Finding {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Revoked(row.of(type), reason, endedAt);
    }
  }

  record Merged(StoredMapping row, StoredMapping survivor, Instant endedAt) implements Finding {
    @Override
    public ResolveOutcome of(Type type) {
      return new ResolveOutcome.Merged(row.of(type), survivor.of(type), endedAt);
    }
  }
}
