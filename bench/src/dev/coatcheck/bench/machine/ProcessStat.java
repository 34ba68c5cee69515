package dev.coatcheck.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A line of {@code /proc/PID/stat}. Times are in ticks of the kernel.
 *
 * @param ticks CPU that the process took, in user mode and in the kernel
 * @param reapedTicks CPU of children that have ended, and of theirs
 */
record ProcessStat(String name, long parentPid, long ticks, long reapedTicks) {
  /** Linux tells every program 100, whatever its own clock does. */
  static final int TICKS_PER_SECOND = 100;

  private static final int PARENT = 1;
  private static final int USER = 11;
  private static final int SYSTEM = 12;
  private static final int REAPED_USER = 13;
  private static final int REAPED_SYSTEM = 14;

  /** Empty if there is no such process, or no {@code /proc}. */
  static Optional<ProcessStat> read(long pid) {
    try {
      return Optional.of(parse(Files.readString(Path.of("/proc", Long.toString(pid), "stat"))));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  /** The name stands in parentheses, and may hold spaces and parentheses itself. */
  static ProcessStat parse(String line) {
    int end = line.lastIndexOf(')');
    String[] fields = line.substring(end + 2).split(" ", -1);
    return new ProcessStat(
        line.substring(line.indexOf('(') + 1, end),
        Long.parseLong(fields[PARENT]),
        Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM]),
        Long.parseLong(fields[REAPED_USER]) + Long.parseLong(fields[REAPED_SYSTEM]));
  }
}
