package dev.coatcheck.migrate.schemas;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.Writers;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An application that makes, moves and deletes rows with all their references without a pause. */
final class ReferenceWriter implements AutoCloseable {
  private static final int THREADS = 2;

  /** Between two changes of a thread, so that a run gets its locks on a small machine too. */
  private static final long PAUSE_MILLIS = 20;

  private final Writers writers = new Writers();
  final Queue<String> errors = writers.errors;
  private final MigrationFixture fixture;
  private final OwnSchema schema;
  private final Map<String, List<Reference>> byTable;
  private volatile boolean knowsNewKeysOnly;

  private ReferenceWriter(MigrationFixture fixture, OwnSchema schema, List<Reference> references) {
    this.fixture = fixture;
    this.schema = schema;
    this.byTable =
        references.stream()
            .filter(reference -> !reference.isSelf())
            .collect(Collectors.groupingBy(Reference::table));
  }

  static ReferenceWriter start(
      MigrationFixture fixture, OwnSchema schema, List<Reference> references) {
    ReferenceWriter writer = new ReferenceWriter(fixture, schema, references);
    for (int n = 0; n < THREADS; n++) {
      String prefix = "w" + n + "-";
      writer.writers.start(() -> writer.write(prefix, references));
    }
    return writer;
  }

  /** From now on it names no old column. */
  void deployNewModel() {
    knowsNewKeysOnly = true;
    awaitRounds();
  }

  /** Until each thread has begun and ended a round from now on. */
  void awaitRounds() {
    long wanted = writers.operations() + 3L * THREADS;
    fixture.await(() -> writers.operations() > wanted || !errors.isEmpty());
  }

  private void write(String prefix, List<Reference> references) throws Exception {
    try (TestSession session = fixture.sql().session()) {
      for (AtomicLong n = new AtomicLong(1); !writers.isStopped(); n.incrementAndGet()) {
        writers.operate(() -> write(session, prefix, n.get(), references));
        Thread.sleep(PAUSE_MILLIS);
      }
    }
  }

  private void write(TestSession session, String prefix, long n, List<Reference> references) {
    boolean isMortal = n % 3 == 0;
    boolean isNew = knowsNewKeysOnly; // once, so that no statement names columns of both models
    insert(session, isNew, prefix + n, isMortal, n % 2 == 0);
    for (Reference reference : references) {
      point(session, isNew, reference, prefix + (n - 1), prefix + n);
    }
    if (isMortal) {
      session.execute("delete from " + schema.table() + " where label = '" + prefix + n + "'");
    }
  }

  /** A row and a row in each table that refers to it: in one statement, or in a transaction. */
  private void insert(
      TestSession session, boolean isNew, String label, boolean isMortal, boolean atOnce) {
    String parent = "insert into %s (label) values ('%s')".formatted(schema.table(), label);
    String key = key(isNew);
    List<String> children =
        byTable.values().stream()
            .filter(of -> !isMortal || of.stream().allMatch(Reference::mayLose))
            .map(of -> insertInto(isNew, of, label))
            .toList();
    if (atOnce) {
      session.execute(
          "with p as (%s returning %s as k)%s select k from p"
              .formatted(
                  parent,
                  key,
                  IntStream.range(0, children.size())
                      .mapToObj(n -> ", c" + n + " as (" + children.get(n) + " from p)")
                      .collect(Collectors.joining())));
      return;
    }
    session.begin(parent);
    for (String child : children) {
      session.execute(
          "%s from (select %s as k from %s where label = '%s') as p"
              .formatted(child, key, schema.table(), label));
    }
    session.commit();
  }

  private static String insertInto(boolean isNew, List<Reference> ofTable, String label) {
    return "insert into "
        + ofTable.getFirst().table()
        + " ("
        + joined(ofTable, reference -> column(isNew, reference) + ", " + reference.label())
        + ") select "
        + joined(ofTable, _ -> "k, '" + label + "'");
  }

  /** Lets the references to a row refer to another row. */
  private void point(
      TestSession session, boolean isNew, Reference reference, String from, String to) {
    if (reference.isUnique() || !reference.mayLose()) {
      return;
    }
    session.execute(
        "update %s as c set %s = p.%s, %s = p.label from %s as p where p.label = '%s' and c.%s = '%s'"
            .formatted(
                reference.table(),
                column(isNew, reference),
                key(isNew),
                reference.label(),
                schema.table(),
                to,
                reference.isSelf() ? "label" : reference.label(),
                from));
  }

  private String key(boolean isNew) {
    return isNew ? "snowflake_id" : schema.key();
  }

  private static String column(boolean isNew, Reference reference) {
    return isNew ? reference.twin() : reference.column();
  }

  private static String joined(List<Reference> references, Function<Reference, String> part) {
    return references.stream().map(part).collect(Collectors.joining(", "));
  }

  @Override
  public void close() {
    writers.close();
  }
}
