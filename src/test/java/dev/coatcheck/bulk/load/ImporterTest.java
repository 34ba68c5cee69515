package dev.coatcheck.bulk.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.bulk.export.Exporter;
import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.grant.DatedKeyGenerators;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.Snowflake;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Imports and exports on a real database. */
class ImporterTest {
  private static final int ROUND_TRIP_ROWS = 20_000;
  private static final Importer.Sender SENDER =
      new Importer.Sender(
          new Caller("test", "test", "test", Rights.of(Set.of(Scope.IDS_WRITE))),
          Actor.operator(),
          () -> true);

  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  private static final DatedKeyGenerators DATED =
      new DatedKeyGenerators(FIXTURE.database, WorkerUses::dated, FIXTURE.observer);
  private static final Importer IMPORTER =
      new Importer(
          FIXTURE.database,
          FIXTURE.on.settings(4),
          FIXTURE.registry,
          new Importer.MintingTools(
              MappingFixture.TOKENS,
              MappingFixture.generators(),
              type -> type.keyTimes().flatMap(DATED::of),
              FIXTURE.observer),
          InstantSource.system());

  @Test
  void anExportImportedIntoAnEmptyDatabaseIsTheSameAgain() throws IOException {
    Type charge = FIXTURE.charge;
    StringBuilder file = new StringBuilder("type,key,legacy_id\n");
    for (int i = ROUND_TRIP_ROWS; i > 0; i--) {
      file.append("charge,").append(i * 7L).append(i % 2 == 0 ? "," + i : ",").append('\n');
    }
    assertRoundTrip(charge, RowFormat.CSV, file.toString());
  }

  @Test
  void itIsTheSameForUuidsAndNdjson() throws IOException {
    Type person = type("person", KeyKind.UUID);
    Random random = new Random(1);
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < ROUND_TRIP_ROWS; i++) {
      file.append("{\"type\":\"person\",\"key\":\"")
          .append(new UUID(random.nextLong(), random.nextLong()))
          .append("\"}\n");
    }
    assertRoundTrip(person, RowFormat.NDJSON, file.toString());
  }

  private static void assertRoundTrip(Type type, RowFormat format, String file) throws IOException {
    assertThat(counts(run(format, file))).containsExactly(ROUND_TRIP_ROWS, ROUND_TRIP_ROWS, 0, 0);
    String exported = export(type, format);
    assertThat(exported.lines().count())
        .isEqualTo(ROUND_TRIP_ROWS + (format == RowFormat.CSV ? 1 : 0));

    FIXTURE.database.write(
        "empty",
        sql ->
            sql.execute("truncate coatcheck.public_id, coatcheck.public_id_uuid, coatcheck.alias"));
    assertThat(counts(run(format, exported)))
        .containsExactly(ROUND_TRIP_ROWS, ROUND_TRIP_ROWS, 0, 0);
    assertThat(export(type, format)).isEqualTo(exported);

    assertThat(counts(run(format, exported)))
        .containsExactly(ROUND_TRIP_ROWS, 0, ROUND_TRIP_ROWS, 0);
    assertThat(export(type, format)).isEqualTo(exported);
  }

  @Test
  void aKeyThatIsMadeCarriesTheTimeOfItsRow() {
    Type bill = type("bill", KeyKind.BIGINT);
    Instant before = Instant.now().minusSeconds(60);
    List<Integer> counts =
        counts(
            run(
                RowFormat.CSV,
                """
                type,key,legacy_id,created_at
                bill,,1,2024-02-29T12:00:00.123456Z
                bill,,2,2019-01-01T00:00:00Z
                bill,,3,2024-02-29T12:00:00Z
                bill,,4,
                bill,77,5,2024-02-29T12:00:00Z
                """));

    assertThat(counts).containsExactly(5, 5, 0, 0);
    assertThat(times(bill))
        .startsWith(
            Instant.parse("2023-01-01T00:00:00Z"), // its own key, which is no time
            Instant.parse("2023-01-01T00:00:00Z"), // from before the epoch
            Instant.parse("2024-02-29T12:00:00Z"),
            Instant.parse("2024-02-29T12:00:00.123Z"))
        .hasSize(5);
    assertThat(times(bill).getLast()).isAfter(before);
  }

  /** The times in the keys of a type, rising. */
  private static List<Instant> times(Type type) {
    return FIXTURE.database.read(
        "keys",
        sql ->
            sql.fetch(
                    "select key from coatcheck.public_id where type_id = {0} order by key",
                    DSL.val(type.number()))
                .map(row -> SnowflakeLayout.DEFAULT.timeOf(row.get(0, Long.class))));
  }

  @Test
  void aPublicIdBelongsToOneKey() {
    Type held = type("held", KeyKind.BIGINT);
    int bucket = held.salt().bucketOf(new Key.Bigint(1));
    long neighbour =
        LongStream.iterate(2, key -> key + 1)
            .filter(key -> held.salt().bucketOf(new Key.Bigint(key)) == bucket)
            .findFirst()
            .orElseThrow();
    Token token = MappingFixture.TOKENS.next(bucket);
    String id = new PublicId(held.prefix(), token).toString();
    String file = "type,key,public_id\nheld,1," + id + "\nheld," + neighbour + "," + id + "\n";

    for (int created = 1; created >= 0; created--) {
      RowSummary summary = run(RowFormat.CSV, file);
      assertThat(counts(summary)).containsExactly(2, created, 1 - created, 1);
      assertThat(summary.errors()).containsExactly(new RowError(3, RowFault.PUBLIC_ID_CONFLICT));
    }
  }

  /** The quick way and the careful one are one: what they decide doesn't depend on the chunk. */
  @Test
  void aChunkDecidesAsItsRowsWouldOneByOne() throws IOException {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("ImporterTest: -Dseed=" + seed);
    Random random = new Random(seed);
    type("whole", KeyKind.BIGINT);
    type("single", KeyKind.BIGINT);
    for (int round = 0; round < 20; round++) {
      List<String> rows = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        rows.add((random.nextInt(4) == 0 ? "" : random.nextInt(60)) + "," + legacy(random));
      }
      RowSummary whole = run(RowFormat.CSV, file("whole", rows));
      List<Integer> sum = new ArrayList<>(List.of(0, 0, 0, 0));
      List<String> faults = new ArrayList<>();
      for (int i = 0; i < rows.size(); i++) {
        RowSummary one = run(RowFormat.CSV, file("single", List.of(rows.get(i))));
        for (int j = 0; j < 4; j++) {
          sum.set(j, sum.get(j) + counts(one).get(j));
        }
        int line = i + 2;
        one.errors().forEach(error -> faults.add(line + " " + error.fault()));
      }
      assertThat(counts(whole)).as("%s", rows).isEqualTo(sum);
      assertThat(whole.errors().stream().map(error -> error.line() + " " + error.fault()))
          .as("%s", rows)
          .isEqualTo(faults);
    }
    assertThat(shape("whole")).isEqualTo(shape("single"));
  }

  /** Generated keys are left out: they differ. */
  private static List<String> shape(String name) throws IOException {
    return export(FIXTURE.registry.named(name).orElseThrow(), RowFormat.CSV)
        .lines()
        .skip(1)
        .map(line -> line.split(","))
        .map(fields -> (fields[1].length() > 3 ? "" : fields[1]) + "," + fields[2])
        .sorted()
        .toList();
  }

  private static String legacy(Random random) {
    return random.nextInt(2) == 0 ? "" : String.valueOf(1 + random.nextInt(60));
  }

  private static String file(String type, List<String> rows) {
    StringBuilder file = new StringBuilder("type,key,legacy_id\n");
    rows.forEach(row -> file.append(type).append(',').append(row).append('\n'));
    return file.toString();
  }

  @Test
  void aStreamIsReadNoFurtherThanTwoChunksAheadOfWhatIsCommitted() {
    Type ahead = type("ahead", KeyKind.BIGINT);
    int rows = 8 * Chunk.LINES_MAX;
    List<Long> leads = new ArrayList<>();
    InputStream generated =
        new InputStream() {
          private int row = -1;
          private byte[] line = new byte[0];
          private int at;

          @Override
          public int read() {
            if (at == line.length) {
              row++;
              if (row > rows) {
                return -1;
              }
              line =
                  (row == 0 ? "type,key\n" : "ahead,%07d\n".formatted(row + 1_000_000))
                      .getBytes(StandardCharsets.US_ASCII);
              at = 0;
              if (row % (Chunk.LINES_MAX / 2) == 0) {
                leads.add(row - committed(ahead));
              }
            }
            return line[at++];
          }

          @Override
          public int read(byte[] into, int offset, int length) throws IOException {
            // Four kilobytes at a time, so that a lead is of the import and not of a buffer.
            return super.read(into, offset, Math.min(length, 4_096));
          }
        };

    ImportOutcome outcome = IMPORTER.run(RowFormat.CSV, generated, SENDER, 0);

    assertThat(outcome).isInstanceOf(ImportOutcome.Done.class);
    assertThat(leads).hasSize(17).allMatch(lead -> lead <= 2L * Chunk.LINES_MAX + 4_096);
    assertThat(committed(ahead)).isEqualTo(rows);
  }

  @Test
  void aFileThatIsInAlreadyTakesNoKeys() {
    type("resent", KeyKind.BIGINT);
    StringBuilder file = new StringBuilder("type,legacy_id\n");
    int rows = Chunk.LINES_MAX + 10;
    for (int i = 1; i <= rows; i++) {
      file.append("resent,").append(i).append('\n');
    }
    assertThat(counts(run(RowFormat.CSV, file.toString()))).containsExactly(rows, rows, 0, 0);

    Importer keyless = importer(_ -> new KeyOutcome.SegmentExhausted());
    assertThat(counts(run(keyless, file.toString()))).containsExactly(rows, 0, rows, 0);

    assertThat(outcome(keyless, file + "resent,9999999\n"))
        .isInstanceOfSatisfying(
            ImportOutcome.Stopped.class,
            stopped -> {
              assertThat(stopped.reason()).isInstanceOf(ImportOutcome.Reason.KeysUnavailable.class);
              assertThat(stopped.linesSettled()).isEqualTo(Chunk.LINES_MAX + 1L);
            });
  }

  @Test
  void aKeyThatIsTakenIsDrawnAgain() {
    Type drawn = type("drawn", KeyKind.BIGINT);
    run(RowFormat.CSV, "type,key\ndrawn,5\n");
    AtomicLong next = new AtomicLong(5);
    Importer importer =
        importer(
            count ->
                new KeyOutcome.Drawn(
                    LongStream.range(0, count)
                        .<Key>mapToObj(_ -> new Key.Bigint(next.getAndIncrement()))
                        .toList()));

    assertThat(counts(run(importer, "type,legacy_id\ndrawn,1\ndrawn,2\n")))
        .containsExactly(2, 2, 0, 0);
    assertThat(committed(drawn)).isEqualTo(3);
  }

  /** A file may take minutes: what counts is the type when its rows are written. */
  @Test
  void aTypeThatIsRetiredWhileAFileIsReadGetsNoNewRows() {
    Type retiring = type("retiring", KeyKind.BIGINT);
    InputStream body =
        after("type,key\nretiring,1\n", () -> FIXTURE.retire(retiring), "retiring,2\n");

    assertThat(IMPORTER.run(RowFormat.CSV, body, SENDER, 10))
        .isInstanceOfSatisfying(
            ImportOutcome.Done.class,
            done ->
                assertThat(done.summary().errors())
                    .containsExactly(
                        new RowError(2, RowFault.TYPE_RETIRED),
                        new RowError(3, RowFault.TYPE_RETIRED)));
    assertThat(committed(retiring)).isZero();
  }

  /** The chunk before may wait in Postgres for long. */
  @Test
  void aTypeThatIsRetiredWhileAChunkWaitsForTheOneBeforeGetsNoNewRows() throws Exception {
    Type waiting = type("waiting", KeyKind.BIGINT);

    ImportOutcome outcome = changedWhileAChunkWaits(waiting, SENDER, () -> FIXTURE.retire(waiting));

    assertThat(summary(outcome).errors())
        .containsExactly(new RowError(Chunk.LINES_MAX + 2, RowFault.TYPE_RETIRED));
    assertThat(committed(waiting)).isEqualTo(Chunk.LINES_MAX);
  }

  /** A row would stand in the way of its sealed public ID. */
  @Test
  void aTypeThatIsSealedWhileAChunkWaitsForTheOneBeforeGetsNoRowsOfSealedKeys() throws Exception {
    Type sealing = type("sealing", KeyKind.BIGINT);
    Instant from = Instant.now().plus(Duration.ofHours(26));
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    long sealed = layout.key(layout.position(from.plusSeconds(60).toEpochMilli()), 3);

    ImportOutcome outcome =
        changedWhileAChunkWaits(
            sealing, sealed, SENDER, () -> FIXTURE.sealed("sealing", "sealing", from));

    assertThat(summary(outcome).errors())
        .containsExactly(new RowError(Chunk.LINES_MAX + 2, RowFault.KEY_SEALED));
    assertThat(committed(sealing)).isEqualTo(Chunk.LINES_MAX);
  }

  @Test
  void accessThatEndsWhileAChunkWaitsForTheOneBeforeEndsTheImport() throws Exception {
    Type barred = type("barred", KeyKind.BIGINT);
    AtomicBoolean mayImport = new AtomicBoolean(true);
    Importer.Sender sender = new Importer.Sender(SENDER.caller(), Actor.operator(), mayImport::get);

    assertThat(changedWhileAChunkWaits(barred, sender, () -> mayImport.set(false)))
        .isEqualTo(
            new ImportOutcome.Stopped(
                new ImportOutcome.Reason.AccessEnded(), Chunk.LINES_MAX + 1L));
    assertThat(committed(barred)).isEqualTo(Chunk.LINES_MAX);
  }

  /** Imports a chunk and a row, which come to wait for a key that another session has not kept. */
  private static ImportOutcome changedWhileAChunkWaits(
      Type type, Importer.Sender sender, Runnable change) throws Exception {
    return changedWhileAChunkWaits(type, Chunk.LINES_MAX + 1L, sender, change);
  }

  private static ImportOutcome changedWhileAChunkWaits(
      Type type, long lastKey, Importer.Sender sender, Runnable change) throws Exception {
    StringBuilder rows = new StringBuilder("type,key\n");
    LongStream.concat(LongStream.rangeClosed(1, Chunk.LINES_MAX), LongStream.of(lastKey))
        .forEach(key -> rows.append(type.name()).append(',').append(key).append('\n'));
    AtomicBoolean isRead = new AtomicBoolean();
    InputStream body = after(rows.toString(), () -> isRead.set(true), "");
    FutureTask<ImportOutcome> outcome =
        new FutureTask<>(() -> IMPORTER.run(RowFormat.CSV, body, sender, 10));
    try (TestSession other =
        FIXTURE
            .on
            .sql()
            .begin(
                "insert into coatcheck.public_id (key, token, type_id, bucket)"
                    + " values (1, gen_random_uuid(), %d, %d)"
                        .formatted(type.number(), type.salt().bucketOf(new Key.Bigint(1))))) {
      Thread importing = Thread.ofPlatform().start(outcome);
      Awaitility.await().until(() -> isRead.get() && importing.getState() == Thread.State.WAITING);
      change.run();
      other.rollback();
    }
    return outcome.get();
  }

  @Test
  void anImportEndsWithTheAccessOfItsSender() {
    Type leaked = type("leaked", KeyKind.BIGINT);
    StringBuilder file = new StringBuilder("type,key\n");
    for (int i = 1; i <= 3 * Chunk.LINES_MAX; i++) {
      file.append("leaked,").append(i).append('\n');
    }
    AtomicInteger chunks = new AtomicInteger();
    Importer.Sender revoked =
        new Importer.Sender(SENDER.caller(), Actor.operator(), () -> chunks.incrementAndGet() == 1);

    ImportOutcome outcome = IMPORTER.run(RowFormat.CSV, stream(file.toString()), revoked, 10);

    assertThat(outcome)
        .isEqualTo(
            new ImportOutcome.Stopped(
                new ImportOutcome.Reason.AccessEnded(), Chunk.LINES_MAX + 1L));
    assertThat(committed(leaked)).isEqualTo(Chunk.LINES_MAX);
  }

  @Test
  void aPrincipalThatCannotBeStoredIsRefusedAlone() {
    type("owned", KeyKind.BIGINT);
    Importer.Sender administrator =
        new Importer.Sender(
            new Caller("test", "test", "test", Rights.of(Set.of(Scope.ALL))),
            Actor.operator(),
            () -> true);
    String row =
        "{\"type\":\"owned\",\"key\":\"%d\",\"client_id\":\"00000000-0000-0000-0000-00000000000%d\",\"client_principal\":\"%s\"}\n";
    String file =
        row.formatted(1, 1, "a\\u0000")
            + row.formatted(2, 2, "b\\ud800")
            + row.formatted(3, 3, "c".repeat(3_000))
            + row.formatted(4, 4, "teller");

    assertThat(IMPORTER.run(RowFormat.NDJSON, stream(file), administrator, 10))
        .isInstanceOfSatisfying(
            ImportOutcome.Done.class,
            done -> {
              assertThat(counts(done.summary())).containsExactly(4, 1, 0, 3);
              assertThat(done.summary().errors())
                  .extracting(RowError::fault)
                  .containsOnly(RowFault.CLIENT_PRINCIPAL_REFUSED);
            });
  }

  /** A row would stand in the way when the sealed public ID ends, or is pinned. */
  @Test
  void noRowGetsThePublicIdThatASealKeyGives() {
    Instant from = Instant.parse("2024-01-01T00:00:00Z");
    Type sealed = FIXTURE.sealed("wrapped", "wrp", from);
    Type other = type("other", KeyKind.BIGINT);
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    Key key = new Key.Bigint(layout.key(layout.position(from.toEpochMilli() + 1_000), 3));
    Token token = FIXTURE.lookup.find(sealed, key).orElseThrow().token();

    for (Type type : List.of(sealed, other)) {
      long neighbour =
          LongStream.iterate(1, each -> each + 1)
              .filter(each -> type.salt().bucketOf(new Key.Bigint(each)) == token.bucket())
              .findFirst()
              .orElseThrow();
      RowSummary summary =
          run(
              RowFormat.CSV,
              "type,key,public_id\n%s,%d,%s\n"
                  .formatted(type.name(), neighbour, new PublicId(type.prefix(), token)));
      assertThat(summary.errors()).containsExactly(new RowError(2, RowFault.PUBLIC_ID_CONFLICT));
    }
  }

  /** The last chunk is written after the end of the file was read. */
  @Test
  void anImportWhoseLastChunkIsNotCommittedIsNotDone() {
    TestDatabase own = TestDatabase.fresh();
    DatabaseSettings settings = own.settings(4);
    try (Database database = Database.open(settings, "own", FIXTURE.observer);
        Registry registry =
            Registry.open(
                database,
                ChangeFeed.none(),
                SealKeys.NONE,
                new RandomSource(),
                FIXTURE.observer,
                System::nanoTime)) {
      registry.put(TestType.of("late", "late").definition(), PutConditions.NONE, Actor.operator());
      byte[] file = "type,key\nlate,1\nlate,2\n".getBytes(StandardCharsets.UTF_8);
      InputStream body =
          new SequenceInputStream(
              new ByteArrayInputStream(file),
              new InputStream() {
                @Override
                public int read() {
                  own.setReachable(false);
                  return -1;
                }

                @Override
                public int read(byte[] into, int offset, int length) {
                  return length == 0 ? 0 : read();
                }
              });
      ImportOutcome outcome;
      try {
        outcome =
            new Importer(
                    FIXTURE.database,
                    settings,
                    registry,
                    new Importer.MintingTools(
                        MappingFixture.TOKENS,
                        _ -> new Snowflake(SnowflakeLayout.DEFAULT, 0),
                        _ -> Optional.empty(),
                        FIXTURE.observer),
                    InstantSource.system())
                .run(RowFormat.CSV, body, SENDER, 10);
      } finally {
        own.setReachable(true);
      }

      assertThat(outcome)
          .isEqualTo(new ImportOutcome.Stopped(new ImportOutcome.Reason.DatabaseGone(), 0));
    }
  }

  /** It may be committed, so its sender must not learn that no later row is. */
  @Test
  void anImportWhoseBodyBreaksAfterAChunkWithoutAcknowledgementSaysThatTheDatabaseIsGone()
      throws IOException {
    type("torn", KeyKind.BIGINT);
    StringBuilder file = new StringBuilder("type,key\n");
    LongStream.rangeClosed(1, Chunk.LINES_MAX)
        .forEach(key -> file.append("torn,").append(key).append('\n'));
    InputStream broken = InputStream.nullInputStream();
    broken.close(); // so that it can't be read
    InputStream torn = new SequenceInputStream(stream(file.toString()), broken);
    TestDatabase away = TestDatabase.empty();
    away.setReachable(false);
    Importer importer =
        new Importer(
            FIXTURE.database,
            away.settings(1),
            FIXTURE.registry,
            new Importer.MintingTools(
                MappingFixture.TOKENS,
                MappingFixture.generators(),
                _ -> Optional.empty(),
                FIXTURE.observer),
            InstantSource.system());

    assertThat(importer.run(RowFormat.CSV, torn, SENDER, 10))
        .isEqualTo(new ImportOutcome.Stopped(new ImportOutcome.Reason.DatabaseGone(), 0));
  }

  /** The legacy ID of the row is that of a sealed public ID. */
  @Test
  void anImportThatNeedsAMissingSealKeyStopsAndNamesIt() {
    Type locked = FIXTURE.sealed("locked", "lck", Instant.parse("2024-01-01T00:00:00Z"));
    FIXTURE.mint(
        new MintRequest(
            locked,
            Optional.empty(),
            List.of(Alias.of(locked, AliasScheme.LEGACY, "4711")),
            Optional.empty()));
    try (Registry without =
        Registry.open(
            FIXTURE.database,
            ChangeFeed.none(),
            TestSealKeys.withoutFirst(),
            new RandomSource(),
            FIXTURE.observer,
            System::nanoTime)) {
      StringBuilder file = new StringBuilder("type,key,legacy_id\n");
      LongStream.rangeClosed(1, Chunk.LINES_MAX)
          .forEach(key -> file.append("locked,").append(key).append(",\n"));

      assertThat(
              outcome(
                  importer(without, new Snowflake(SnowflakeLayout.DEFAULT, 0)),
                  file + "locked,99999,4711\n"))
          .isEqualTo(
              new ImportOutcome.Stopped(
                  new ImportOutcome.Reason.SealKeyMissing(TestSealKeys.FIRST),
                  Chunk.LINES_MAX + 1L));
    }
  }

  private static long committed(Type type) {
    return FIXTURE.database.read(
        "count",
        sql ->
            ((Number)
                    java.util.Objects.requireNonNull(
                        sql.fetchValue(
                            "select count(*) from coatcheck.public_id where type_id = ?",
                            type.number())))
                .longValue());
  }

  private static Type type(String name, KeyKind kind) {
    return FIXTURE.type(name, name, kind);
  }

  private static Importer importer(KeyGenerator keys) {
    return importer(FIXTURE.registry, keys);
  }

  private static Importer importer(Registry registry, KeyGenerator keys) {
    return new Importer(
        FIXTURE.database,
        FIXTURE.on.settings(4),
        registry,
        new Importer.MintingTools(
            MappingFixture.TOKENS, _ -> keys, _ -> Optional.empty(), FIXTURE.observer),
        InstantSource.system());
  }

  /** The first text, and then the second, before which something happens. */
  private static InputStream after(String first, Runnable meanwhile, String second) {
    return new SequenceInputStream(
        stream(first),
        new FilterInputStream(stream(second)) {
          private boolean begun;

          @Override
          public int read(byte[] into, int offset, int length) throws IOException {
            if (!begun) {
              begun = true;
              meanwhile.run();
            }
            return super.read(into, offset, length);
          }
        });
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private static RowSummary run(RowFormat format, String file) {
    return summary(IMPORTER.run(format, stream(file), SENDER, 100));
  }

  private static RowSummary run(Importer importer, String file) {
    return summary(outcome(importer, file));
  }

  private static ImportOutcome outcome(Importer importer, String file) {
    return importer.run(RowFormat.CSV, stream(file), SENDER, 100);
  }

  private static RowSummary summary(ImportOutcome outcome) {
    if (outcome instanceof ImportOutcome.Done(RowSummary summary)) {
      return summary;
    }
    throw new AssertionError(outcome);
  }

  private static List<Integer> counts(RowSummary summary) {
    return List.of(
        (int) summary.rows(),
        (int) summary.created(),
        (int) summary.existing(),
        (int) summary.refused());
  }

  private static String export(Type type, RowFormat format) throws IOException {
    ByteArrayOutputStream target = new ByteArrayOutputStream();
    new Exporter(FIXTURE.on.settings(2), FIXTURE.observer)
        .run(type, format, false, target, _ -> {});
    return target.toString(StandardCharsets.US_ASCII);
  }
}
