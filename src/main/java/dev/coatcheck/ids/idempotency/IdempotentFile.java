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
 * Files with an Idempotency-Key. The hash of a file is known only at its end, so the response is
 * stored after the work, and if the key already has a response, the file is read without any work.
 * Two concurrent requests with one key both do the work, which therefore has to be repeatable; the
 * request that ends later gets the response of the other one.
 */
public final class IdempotentFile {
  private IdempotentFile() {}

  /**
   * A file that is processed once, however often it is sent.
   *
   * @param request distinguishes it from other requests with the same file
   * @param types stands for the types of the caller; see {@link IdempotentCall}
   * @param answer to an outcome; empty if the outcome is not final
   */
  public record Keyed<T>(
      IdempotencyKey key,
      String request,
      String types,
      Function<T, Optional<StoredResponse>> answer) {

    private IdempotentCall<T> call(MessageDigest digest, Function<T, StoredResponse> stored) {
      return new IdempotentCall<>(key, HexFormat.of().formatHex(digest.digest()) + types, stored);
    }
  }

  /**
   * Does the work on the file, unless its key already has a response.
   *
   * @param keyed empty for a request without a key
   * @param broken the outcome for a file that can't be read to its end
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the key can't be looked up or its
   *     response can't be stored; repeating the request settles it
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
      IdempotentCall<T> once = asked.call(digest, IdempotentFile::never);
      return IdempotentCallTable.answered(database, Optional.of(once))
          .orElseGet(IdempotentResult.Busy::new); // the response has expired meanwhile
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
                    Optional.of(asked.call(digest, _ -> answer)),
                    _ -> outcome))
        .orElseGet(() -> new IdempotentResult.Unkeyed<>(outcome));
  }

  private static <T> StoredResponse never(T outcome) {
    throw new IllegalStateException("no work was done");
  }
}
