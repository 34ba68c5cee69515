package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.Once;
import dev.coatcheck.ids.idempotency.OnceResult;
import dev.coatcheck.ids.idempotency.OnceTable;
import dev.coatcheck.ids.idempotency.Recorded;
import dev.coatcheck.postgres.sql.Database;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Function;

/**
 * Imports files that come with an Idempotency-Key. What tells a file from another one is known only
 * at its end, so the answer is kept after the import, and a file whose key has an answer is read
 * but not imported. Two requests with one key at the same time are both imported, which is
 * harmless: rows are idempotent by themselves; the one that ends later gets the answer of the
 * other.
 */
public final class KeyedImporter {
  private final Importer importer;
  private final Database database;

  KeyedImporter(Importer importer, Database database) {
    this.importer = importer;
    this.database = database;
  }

  /**
   * What is asked.
   *
   * @param parameters tells it from requests of the same file
   * @param answer of an import that was done
   */
  public record Keyed(
      IdempotencyKey key, String parameters, Function<ImportOutcome, Recorded> answer) {
    private Once<ImportOutcome> once(String requestHash) {
      return new Once<>(key, requestHash, answer);
    }
  }

  /**
   * As {@link Importer#run}. Only the answer to an import that was done is kept.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the key can't be looked up, or its
   *     answer can't be kept; sending the same again settles it
   */
  public OnceResult<ImportOutcome> run(
      RowFormat format, InputStream body, Caller sender, int errorsMax, Keyed keyed) {
    MessageDigest digest = sha256();
    digest.update(keyed.parameters().getBytes(StandardCharsets.UTF_8));
    DigestInputStream hashed = new DigestInputStream(body, digest);
    if (OnceTable.isAnswered(database, keyed.key())) {
      return answered(hashed, digest, keyed);
    }
    ImportOutcome outcome = importer.run(format, hashed, sender, errorsMax);
    if (!(outcome instanceof ImportOutcome.Done)) {
      return new OnceResult.Unkeyed<>(outcome);
    }
    return OnceTable.write(
        database, "import answer", Optional.of(keyed.once(hex(digest))), _ -> outcome);
  }

  private OnceResult<ImportOutcome> answered(
      InputStream hashed, MessageDigest digest, Keyed keyed) {
    try {
      hashed.transferTo(OutputStream.nullOutputStream());
    } catch (IOException broken) {
      return new OnceResult.Unkeyed<>(
          new ImportOutcome.Stopped(new ImportOutcome.Reason.BodyBroken(), 0));
    }
    return OnceTable.answered(database, Optional.of(keyed.once(hex(digest))))
        .orElseGet(OnceResult.Busy::new); // it has expired since
  }

  private static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
