package dev.coatcheck.cluster.lease;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A wall clock that a test moves while a process runs on it: libfaketime, where it is installed or
 * {@code COATCHECK_LIBFAKETIME} names it.
 */
public record FakeTime(Path library, Path offset) {
  private static final String VARIABLE = "COATCHECK_LIBFAKETIME";
  private static final List<String> FOLDERS =
      List.of(
          "/usr/lib/x86_64-linux-gnu/faketime",
          "/usr/lib/aarch64-linux-gnu/faketime",
          "/usr/lib64/faketime",
          "/usr/lib/faketime",
          "/usr/local/lib/faketime");

  public static Optional<FakeTime> in(Path folder) {
    Stream<String> named = Optional.ofNullable(System.getenv(VARIABLE)).stream();
    Stream<String> installed = FOLDERS.stream().map(name -> name + "/libfaketimeMT.so.1");
    return Stream.concat(named, installed)
        .map(Path::of)
        .filter(Files::isReadable)
        .findFirst()
        .map(library -> new FakeTime(library, folder.resolve("offset")).jump(0));
  }

  /** Moves the clock to this distance from the true one. */
  public FakeTime jump(long millis) {
    try {
      Path next = Files.writeString(offset.resolveSibling("next"), "%+.3f".formatted(millis / 1e3));
      Files.move(next, offset, StandardCopyOption.ATOMIC_MOVE);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** For a process whose clock is ahead from its start on: it reads no file at each look. */
  public Map<String, String> ahead(Duration time) {
    return Map.of(
        "LD_PRELOAD",
        library.toString(),
        "FAKETIME",
        "+" + time.toSeconds(),
        "FAKETIME_DONT_FAKE_MONOTONIC",
        "1",
        "DONT_FAKE_MONOTONIC",
        "1");
  }

  public Map<String, String> environment() {
    return Map.of(
        "LD_PRELOAD", library.toString(),
        "FAKETIME_TIMESTAMP_FILE", offset.toString(),
        "FAKETIME_NO_CACHE", "1",
        "FAKETIME_DONT_FAKE_MONOTONIC", "1",
        "DONT_FAKE_MONOTONIC", "1");
  }
}
