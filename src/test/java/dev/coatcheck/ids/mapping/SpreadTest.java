package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.bulk.load.ImportOutcome;
import dev.coatcheck.bulk.load.Importer;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.Endings.Mode;
import dev.coatcheck.ids.ending.Endings.Request;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What one instance does ends what another one has cached. Without a change in the feed the cache
 * would go on for 30 seconds.
 */
class SpreadTest {
  private static final Duration HEARD_MAX = Duration.ofSeconds(15);

  @RegisterExtension static final MappingFixture HERE = new MappingFixture();
  @RegisterExtension static final MappingFixture THERE = HERE.beside();

  @Test
  void aMergedIdMovesOnElsewhereAndEndsWithItsSurvivor() {
    String id = minted();
    String survivor = minted();
    String last = minted();
    end(new Request.Merge(id, survivor));
    awaitHeardThere();
    assertThat(resolvedThere(id)).isInstanceOf(ResolveOutcome.Merged.class);

    end(new Request.Merge(survivor, last));
    Awaitility.await()
        .atMost(HEARD_MAX)
        .until(
            () ->
                resolvedThere(id) instanceof ResolveOutcome.Merged merged
                    && merged.survivor().publicId().toString().equals(last));

    end(new Request.Revoke(last, Optional.empty()));
    Awaitility.await()
        .atMost(HEARD_MAX)
        .until(() -> resolvedThere(id) instanceof ResolveOutcome.Revoked);
  }

  /** That an ID is unknown is cached too. */
  @Test
  void anImportedIdIsFoundElsewhere() {
    String id =
        new PublicId(HERE.charge.prefix(), MappingFixture.TOKENS.next(bucketOf(70_001))).toString();
    assertThat(resolvedThere(id)).isInstanceOf(ResolveOutcome.Unknown.class);
    Importer importer =
        new Importer(
            HERE.database,
            HERE.on.settings(2),
            HERE.registry,
            new Importer.MintingTools(
                MappingFixture.TOKENS,
                MappingFixture.generators(),
                _ -> Optional.empty(),
                HERE.observer),
            InstantSource.system());
    String file = "type,key,public_id\ncharge,70001," + id + "\n";

    ImportOutcome outcome =
        importer.run(
            RowFormat.CSV,
            new ByteArrayInputStream(file.getBytes(StandardCharsets.UTF_8)),
            new Importer.Sender(
                new Caller("test", "test", "test", Rights.of(Set.of(Scope.ALL))),
                Actor.operator(),
                () -> true),
            10);

    assertThat(outcome)
        .isInstanceOfSatisfying(
            ImportOutcome.Done.class,
            done -> assertThat(done.summary().created()).as("%s", done).isEqualTo(1));
    Awaitility.await()
        .atMost(HEARD_MAX)
        .until(() -> resolvedThere(id) instanceof ResolveOutcome.Found);
  }

  /** What is cached before the merge was heard of would end with that news already. */
  private static void awaitHeardThere() {
    String head =
        HERE.database.read(
            "test",
            sql ->
                sql.fetchSingle("select number::float8::text from coatcheck.change_head")
                    .get(0, String.class));
    Awaitility.await()
        .atMost(HEARD_MAX)
        .until(
            () ->
                THERE
                    .observer
                    .scrape()
                    .lines()
                    .filter(line -> line.startsWith("coatcheck_feed_position "))
                    .anyMatch(
                        line ->
                            Double.parseDouble(line.substring(line.indexOf(' ')))
                                >= Double.parseDouble(head)));
  }

  private static int bucketOf(long key) {
    return HERE.request(key).subject().orElseThrow().bucket();
  }

  private static ResolveOutcome resolvedThere(String id) {
    return THERE.resolve(id);
  }

  private static String minted() {
    return HERE.mint(HERE.generated(HERE.charge)).getFirst().mapping().publicId().toString();
  }

  private static void end(Request request) {
    assertThat(HERE.end(List.of(request), Mode.EACH, Actor.operator()))
        .isInstanceOf(Endings.Result.Settled.class);
  }
}
