package dev.coatcheck.bench.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** How much CPU something has taken so far. Two readings, one before and one after, tell. */
@FunctionalInterface
public interface CpuClock {
  /** Microseconds in user mode and in the kernel, to 10 ms; empty where that isn't known. */
  OptionalLong micros();

  /** For what runs elsewhere. */
  static CpuClock unknown() {
    return OptionalLong::empty;
  }

  /** A process with all of its threads. */
  static CpuClock ofProcess(long pid) {
    return () ->
        ProcessStat.read(pid)
            .map(stat -> OptionalLong.of(toMicros(stat.ticks())))
            .orElse(OptionalLong.empty());
  }

  /**
   * A Postgres on this machine: its postmaster, all of its backends and background processes, and
   * those that have ended.
   *
   * @param backendPid of any backend
   */
  static CpuClock ofPostgres(long backendPid) {
    Optional<ProcessStat> backend = ProcessStat.read(backendPid);
    if (backend.isEmpty() || !backend.get().name().startsWith("postgres")) {
      return unknown();
    }
    long postmaster = backend.get().parentPid();
    return () -> treeMicros(postmaster);
  }

  /**
   * A child that ends between the reading of its parent and its own would be counted in neither, or
   * in both: all is read again until none has ended meanwhile.
   */
  private static OptionalLong treeMicros(long parent) {
    Optional<ProcessStat> before = ProcessStat.read(parent);
    while (before.isPresent()) {
      long children = childTicks(parent);
      Optional<ProcessStat> after = ProcessStat.read(parent);
      if (after.isPresent() && after.get().reapedTicks() == before.get().reapedTicks()) {
        return OptionalLong.of(
            toMicros(after.get().ticks() + after.get().reapedTicks() + children));
      }
      before = after;
    }
    return OptionalLong.empty();
  }

  private static long childTicks(long parent) {
    return pids().stream()
        .flatMap(pid -> ProcessStat.read(pid).stream())
        .filter(stat -> stat.parentPid() == parent)
        .mapToLong(ProcessStat::ticks)
        .sum();
  }

  private static List<Long> pids() {
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      return all.map(path -> path.getFileName().toString())
          .filter(name -> Character.isDigit(name.charAt(0)))
          .map(Long::valueOf)
          .toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static long toMicros(long ticks) {
    return ticks * (1_000_000 / ProcessStat.TICKS_PER_SECOND);
  }
}
