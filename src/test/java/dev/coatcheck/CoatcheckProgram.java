package dev.coatcheck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Stands in for the launcher, which would build the jar: runs the classes under test. */
public final class CoatcheckProgram {
  private CoatcheckProgram() {}

  /** Writes the program. Like the launcher, it becomes the Java process, which gets its signals. */
  public static Path write(Path file) throws IOException {
    return executable(file, "exec %s \"$@\"\n".formatted(java()));
  }

  /** As above, but its output passes through a filter, a shell command. */
  static Path writeFiltered(Path file, String filter) throws IOException {
    return executable(
        file,
        """
        %s "$@" >"$0.out"
        status=$?
        %s <"$0.out"
        exit "$status"
        """
            .formatted(java(), filter));
  }

  private static Path executable(Path file, String script) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + script);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  private static String java() {
    return "'%s' -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -Dlogback.configurationFile=logback.xml --enable-native-access=ALL-UNNAMED -Dorg.jooq.no-logo=true -Dorg.jooq.no-tips=true -cp '%s' dev.coatcheck.Main"
        .formatted(
            Path.of(System.getProperty("java.home"), "bin", "java"),
            System.getProperty("java.class.path"));
  }

  /** Whether a tool is installed, and not only its stub. */
  public static boolean isInstalled(String tool) {
    return succeeds(tool, "--version");
  }

  /** Whether there is such a program, and it exits with 0. */
  public static boolean succeeds(String... command) {
    try {
      return new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException absent) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
