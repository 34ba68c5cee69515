package dev.coatcheck.core.seal;

import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The seal keys that an instance has, from a file that its owner alone may read: one key a line, 64
 * hexadecimal digits each; empty lines and those that begin with {@code #} are skipped. The
 * database never has a key.
 */
public final class SealKeys {
  public static final SealKeys NONE = new SealKeys(Map.of());

  private static final int BYTES_MAX = 256 * 1024;

  /** Are named; all lines of another kind of file would be too many. */
  private static final int FAULTY_LINES_MAX = 20;

  private static final Set<PosixFilePermission> ALLOWED =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private final Map<String, SealKey> byFingerprint;

  private SealKeys(Map<String, SealKey> byFingerprint) {
    this.byFingerprint = byFingerprint;
  }

  /** What a file of keys turned out to be. */
  public sealed interface Parsed {
    record Valid(SealKeys keys) implements Parsed {}

    /**
     * Not used, in part or at all.
     *
     * @param fault says what is wrong, and what to do; never a part of a key
     */
    record Faulty(String fault) implements Parsed {}
  }

  public static Parsed read(Path file) {
    try {
      String text = new String(InputFile.read(file, BYTES_MAX), StandardCharsets.UTF_8);
      PosixFileAttributeView access =
          Files.getFileAttributeView(file, PosixFileAttributeView.class);
      if (access != null && !ALLOWED.containsAll(access.readAttributes().permissions())) {
        return new Parsed.Faulty(
            "others than its owner may use %s; run chmod 600 on it".formatted(file));
      }
      return parse(text.lines().toList(), file);
    } catch (IOException unreadable) {
      return new Parsed.Faulty("%s can't be read: %s".formatted(file, FileWords.why(unreadable)));
    }
  }

  private static Parsed parse(List<String> lines, Path file) {
    Map<String, SealKey> keys = new LinkedHashMap<>();
    List<Integer> faulty = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      int number = i + 1;
      SealKey.parse(line)
          .ifPresentOrElse(key -> keys.put(key.fingerprint(), key), () -> faulty.add(number));
    }
    return faulty.isEmpty()
        ? new Parsed.Valid(new SealKeys(keys))
        : new Parsed.Faulty(notKeys(faulty, file));
  }

  private static String notKeys(List<Integer> lines, Path file) {
    if (lines.size() == 1) {
      return "line %d of %s is no seal key, which is 64 of 0-9 and a-f"
          .formatted(lines.getFirst(), file);
    }
    String named =
        lines.stream()
            .limit(FAULTY_LINES_MAX)
            .map(String::valueOf)
            .collect(Collectors.joining(", "));
    int more = lines.size() - FAULTY_LINES_MAX;
    return "lines %s of %s are no seal keys, which are 64 of 0-9 and a-f"
        .formatted(more > 0 ? named + " and " + more + " more" : named, file);
  }

  public Optional<SealKey> withFingerprint(String fingerprint) {
    return Optional.ofNullable(byFingerprint.get(fingerprint));
  }

  /** In the order of the file. */
  public List<String> fingerprints() {
    return new ArrayList<>(byFingerprint.keySet());
  }
}
