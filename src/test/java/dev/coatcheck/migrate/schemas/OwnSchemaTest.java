package dev.coatcheck.migrate.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole schemas go from the plan to the last phase, while an application works on them. */
class OwnSchemaTest {
  @ParameterizedTest
  @EnumSource
  void everyReferenceLeadsToItsRowFromThePlanToTheLastPhase(OwnSchema schema) {
    try (MigrationFixture fixture = MigrationFixture.of(schema == OwnSchema.CLUB)) {
      fixture.execute(schema.sql());
      List<Reference> references = Reference.to(fixture, schema.table());
      Map<Reference, List<String>> seeded =
          labels(fixture, schema, references, schema.key(), Reference::column);
      Map<Long, Long> keys;
      try (ReferenceWriter writer = ReferenceWriter.start(fixture, schema, references)) {
        writer.awaitRounds();
        TableMigration run =
            fixture.run(fixture.plan(schema.namespace, schema.name, Optional.of(schema.createdAt)));
        assertThat(run.target().children()).hasSameSizeAs(references);
        writer.awaitRounds();
        requireTwins(fixture, schema, references);

        fixture.switchKey(run);
        writer.awaitRounds();
        fixture.undo(run, Phase.SWITCH);
        writer.awaitRounds();
        fixture.switchKey(run);
        writer.awaitRounds();
        requireTwins(fixture, schema, references);
        keys = keys(fixture, schema);

        fixture.execute(schema.rebuilt());
        writer.deployNewModel();
        fixture.contract(run);
        writer.awaitRounds();
        assertThat(writer.errors).isEmpty();
      }

      assertThat(labels(fixture, schema, references, "snowflake_id", Reference::twin))
          .isEqualTo(seeded);
      assertThat(seeded.values()).noneMatch(List::isEmpty);
      requireNoOldColumn(fixture, schema, references);
      requireLookUps(fixture, keys);
    }
  }

  /** Which row each row of the first days refers to. */
  private static Map<Reference, List<String>> labels(
      MigrationFixture fixture,
      OwnSchema schema,
      List<Reference> references,
      String key,
      Function<Reference, String> column) {
    Map<Reference, List<String>> labels = new HashMap<>();
    for (Reference reference : references) {
      labels.put(
          reference,
          fixture.texts(
              "select concat(c."
                  + reference.label()
                  + ", ' ', p.label) from "
                  + reference.table()
                  + " c join "
                  + schema.table()
                  + " p on p."
                  + key
                  + " = c."
                  + column.apply(reference)
                  + " where c."
                  + reference.label()
                  + " !~ '^w' order by 1"));
    }
    return labels;
  }

  private static void requireTwins(
      MigrationFixture fixture, OwnSchema schema, List<Reference> references) {
    for (Reference reference : references) {
      assertThat(
              fixture.texts(
                  "select concat_ws(' ', c."
                      + reference.label()
                      + ", p.label) from "
                      + reference.table()
                      + " c left join "
                      + schema.table()
                      + " p on p."
                      + schema.key()
                      + " = c."
                      + reference.column()
                      + " where c."
                      + reference.twin()
                      + " is distinct from p.snowflake_id"
                      + " or (p.label <> c."
                      + reference.label()
                      + " and p.label <> 'first')"))
          .as(reference.toString())
          .isEmpty();
    }
  }

  private static void requireNoOldColumn(
      MigrationFixture fixture, OwnSchema schema, List<Reference> references) {
    references.forEach(
        reference ->
            assertThat(hasColumn(fixture, reference.table(), reference.column()))
                .as(reference.toString())
                .isFalse());
    assertThat(hasColumn(fixture, schema.table(), schema.key())).isFalse();
    assertThat(hasColumn(fixture, schema.table(), "snowflake_id")).isTrue();
  }

  private static boolean hasColumn(MigrationFixture fixture, String table, String column) {
    return fixture.count(
            "select count(*) from pg_attribute where attrelid = '"
                + table.replace("'", "''")
                + "'::regclass and attname = (parse_ident('"
                + column
                + "'))[1]")
        > 0;
  }

  private static Map<Long, Long> keys(MigrationFixture fixture, OwnSchema schema) {
    Map<Long, Long> keys = new HashMap<>();
    fixture
        .texts(
            "select concat_ws(' ', %s, snowflake_id) from %s where label !~ '^w'"
                .formatted(schema.key(), schema.table()))
        .forEach(
            row -> {
              String[] numbers = row.split(" ", 2);
              keys.put(Long.valueOf(numbers[0]), Long.valueOf(numbers[1]));
            });
    return keys;
  }

  /** An old link still leads to the row, and so does the public ID that it leads to. */
  private static void requireLookUps(MigrationFixture fixture, Map<Long, Long> keys) {
    MappingFixture gateway = fixture.gateway;
    try (Legacy legacy =
        Legacy.open(
            gateway.database,
            gateway.registry,
            gateway.mappings.resolver(),
            fixture.migrations().legacySource(),
            gateway.observer,
            Clock.systemUTC())) {
      keys.forEach(
          (id, key) -> {
            ResolveOutcome found = MigrationFixture.find(legacy, fixture.type, id);
            assertThat(found).as("%d", id).isInstanceOf(ResolveOutcome.Found.class);
            assertThat(((ResolveOutcome.Found) found).mapping().key())
                .isEqualTo(new Key.Bigint(key));
          });
    }
  }
}
