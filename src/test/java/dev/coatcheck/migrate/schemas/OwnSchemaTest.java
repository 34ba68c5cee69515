package dev.coatcheck.migrate.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whole schemas go from the plan to the last phase, while an application works on them. */
class OwnSchemaTest {
  @Test
  void everyReferenceLeadsToItsRowFromThePlanToTheLastPhase() {
    goThrough(OwnSchema.BACK_OFFICE);
  }

  @Test
  @Tag("faults")
  void soDoesEachOfMoreThanFifteenAndOneToTheTableItself() {
    goThrough(OwnSchema.CLUB);
  }

  private static void goThrough(OwnSchema schema) {
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
        keys = fixture.keys(schema.table() + " where label !~ '^w'", schema.key());

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
      fixture.requireLookUps(fixture.type, keys);
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
              "select concat(c.%1$s, ' ', p.label) from %2$s c join %3$s p on p.%4$s = c.%5$s where c.%1$s !~ '^w' order by 1"
                  .formatted(
                      reference.label(),
                      reference.table(),
                      schema.table(),
                      key,
                      column.apply(reference))));
    }
    return labels;
  }

  private static void requireTwins(
      MigrationFixture fixture, OwnSchema schema, List<Reference> references) {
    for (Reference reference : references) {
      assertThat(
              fixture.texts(
                  """
                  select concat_ws(' ', c.%1$s, p.label) from %2$s c
                    left join %3$s p on p.%4$s = c.%5$s
                   where c.%6$s is distinct from p.snowflake_id
                      or (p.label <> c.%1$s and p.label <> 'first')
                  """
                      .formatted(
                          reference.label(),
                          reference.table(),
                          schema.table(),
                          schema.key(),
                          reference.column(),
                          reference.twin())))
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
}
