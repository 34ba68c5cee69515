package dev.coatcheck.api.routes;

import dev.coatcheck.api.routes.Contract.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Stream;

/**
 * The documented outcomes that tests have seen. Several processes share the tests of a run, so each
 * writes what it sees into a file of its own, and reads those of all.
 */
final class SeenOutcomes {
  private final ConcurrentSkipListSet<Outcome> ours = new ConcurrentSkipListSet<>();
  private final Optional<Path> folder;

  private SeenOutcomes(Optional<Path> folder) {
    this.folder = folder;
  }

  static SeenOutcomes inMemory() {
    return new SeenOutcomes(Optional.empty());
  }

  /** Of the run that the build names; without a build, of this process. */
  static SeenOutcomes ofRun() {
    return new SeenOutcomes(
        Optional.ofNullable(System.getProperty("coatcheck.test.run"))
            .map(run -> Path.of("target", "seen-outcomes", run)));
  }

  void add(Outcome outcome) {
    if (ours.add(outcome)) {
      folder.ifPresent(into -> append(into, outcome));
    }
  }

  NavigableSet<Outcome> all() {
    NavigableSet<Outcome> all = new TreeSet<>(ours);
    folder
        .filter(Files::isDirectory)
        .ifPresent(from -> lines(from).map(SeenOutcomes::read).forEach(all::add));
    return all;
  }

  private static void append(Path into, Outcome outcome) {
    try {
      Files.writeString(
          Files.createDirectories(into).resolve(ProcessHandle.current().pid() + ".txt"),
          outcome.operationId() + " " + outcome.status() + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Stream<String> lines(Path from) {
    try (Stream<Path> files = Files.list(from)) {
      List<Path> written = files.toList();
      return written.stream().flatMap(SeenOutcomes::linesOf);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Stream<String> linesOf(Path file) {
    try {
      return Files.readAllLines(file).stream();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Outcome read(String line) {
    String[] words = line.split(" ", 2);
    return new Outcome(words[0], Integer.parseInt(words[1]));
  }
}
