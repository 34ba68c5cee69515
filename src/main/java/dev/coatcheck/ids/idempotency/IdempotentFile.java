package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.postgres.sql.Database;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Files that come with an Idempotency-Key. What tells a file from another one is known only at its
 * end, so the answer is kept after the work, and a file whose key has an answer is read without any
 * work. Two requests with one key at the same time both do their work, so it has to be harmless
 * when repeated; the request that ends later gets the answer of the other.
 */
public final class IdempotentFile {
  private IdempotentFile() {}

  /**
   * What a file needs so that it is worked on once, however often it is sent.
   *
   * @param request tells it from requests with the same file
   * @param answer to an outcome; empty if it doesn't settle the request
   */
  public record Keyed<T>(
      IdempotencyKey key, String request, Function<T, Optional<StoredResponse>> answer) {}

  /**
   * Does the work on the file, unless its key has an answer already.
   *
   * @param keyed empty for a request without a key
   * @param broken what comes of a file that can't be read to its end
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the key can't be looked up, or its
   *     answer can't be kept; sending the same again settles it
   */
  public static <T> IdempotentResult<T> run(
      Database database,
      Optional<Keyed<T>> keyed,
      InputStream file,
      Function<InputStream, T> work,
      Supplier<T> broken) {
    return keyed
        .map(asked -> run(database, asked, file, work, broken))
        .orElseGet(() -> new IdempotentResult.Unkeyed<>(work.apply(file)));
  }

  private static <T> IdempotentResult<T> run(
      Database database,
      Keyed<T> asked,
      InputStream file,
      Function<InputStream, T> work,
      Supplier<T> broken) {
    MessageDigest digest = Sha256.start();
    digest.update((asked.request() + '\n').getBytes(StandardCharsets.UTF_8));
    InputStream hashed = new DigestInputStream(file, digest);
    if (IdempotentCallTable.isAnswered(database, asked.key())) {
      try {
        hashed.transferTo(OutputStream.nullOutputStream());
      } catch (IOException gone) {
        return new IdempotentResult.Unkeyed<>(broken.get());
      }
      IdempotentCall<T> once =
          new IdempotentCall<>(asked.key(), hex(digest), IdempotentFile::never);
      return IdempotentCallTable.answered(database, Optional.of(once))
          .orElseGet(IdempotentResult.Busy::new); // the answer has expired since
    }
    T outcome = work.apply(hashed);
    return asked
        .answer()
        .apply(outcome)
        .map(
            answer ->
                IdempotentCallTable.write(
                    database,
                    "answer to a file",
                    Optional.of(new IdempotentCall<T>(asked.key(), hex(digest), _ -> answer)),
                    _ -> outcome))
        .orElseGet(() -> new IdempotentResult.Unkeyed<>(outcome));
  }

  private static <T> StoredResponse never(T outcome) {
    throw new IllegalStateException("no work was done");
  }

  private static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }
}
