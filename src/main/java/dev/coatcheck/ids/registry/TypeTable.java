package dev.coatcheck.ids.registry;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.postgres.sql.schema.tables.records.TypeRecord;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jooq.JSONB;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** A type as a row of its table. */
final class TypeTable {
  private static final JsonMapper JSON = new JsonMapper();

  private TypeTable() {}

  static void setPolicies(TypeRecord row, Policies policies) {
    row.setPolicies(JSONB.valueOf(JSON.writeValueAsString(policies.json())));
  }

  static void setKeys(TypeRecord row, KeyKind kind, KeyGeneration generation) {
    row.setKeyKind(kind.wireName());
    row.setGenerate(generation.wireName());
    switch (generation) {
      case KeyTimes.Snowflakes(SnowflakeLayout layout) -> row.setLayout(layout.name());
      case KeyGeneration.Segment(String tag) -> row.setTag(tag);
      case KeyTimes.UuidsV7 _, KeyGeneration.None _ -> {}
    }
  }

  /**
   * @param eras of the type, in the order of their starts
   */
  static Type read(TypeRecord row, List<Sealing.Era> eras) {
    KeyKind kind = WireNamed.find(KeyKind.class, row.getKeyKind()).orElseThrow();
    KeyGeneration generation = generation(row);
    Prefix prefix = new Prefix(row.getPrefix());
    return new Type(
        row.getTypeId(),
        row.getName(),
        prefix,
        kind,
        generation,
        new Salt(row.getSalt()),
        Policies.read(
            JsonObject.stored(JSON.readTree(row.getPolicies().data())),
            row.getName(),
            kind,
            RedirectHosts.unchecked()),
        WireNamed.find(ClientNames.class, row.getClientNames()).orElseThrow(),
        sealing(row.getSealedFrom(), prefix, generation, eras),
        Optional.ofNullable(row.getRetiredAt()),
        row.getCreatedAt(),
        row.getUpdatedAt(),
        row.getVersion());
  }

  private static Optional<Sealing> sealing(
      @Nullable Instant from, Prefix prefix, KeyGeneration generation, List<Sealing.Era> eras) {
    return from != null && generation instanceof KeyTimes.Snowflakes(SnowflakeLayout layout)
        ? Optional.of(new Sealing(prefix, layout, from, eras))
        : Optional.empty();
  }

  private static KeyGeneration generation(TypeRecord row) {
    return switch (row.getGenerate()) {
      case KeyGeneration.SNOWFLAKE ->
          new KeyTimes.Snowflakes(SnowflakeLayout.accepted(requireNonNull(row.getLayout())));
      case KeyGeneration.SEGMENT -> new KeyGeneration.Segment(requireNonNull(row.getTag()));
      case KeyGeneration.UUIDV7 -> new KeyTimes.UuidsV7();
      case KeyGeneration.NONE -> new KeyGeneration.None();
      default -> throw new IllegalStateException("stored generate: " + row.getGenerate());
    };
  }
}
