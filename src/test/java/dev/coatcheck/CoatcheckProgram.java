package dev.coatcheck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Stands in for the launcher, which would build the jar: runs the classes under test. */
final class CoatcheckProgram {
  private CoatcheckProgram() {}

  /** Writes the program. The filter is a shell command that its output passes through. */
  static Path write(Path file, String filter) throws IOException {
    Files.writeString(
        file,
        """
        #!/bin/sh
        '%s' -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -cp '%s' dev.coatcheck.Main "$@" >"$0.out"
        status=$?
        %s <"$0.out"
        exit "$status"
        """
            .formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                System.getProperty("java.class.path"),
                filter));
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  /** Whether a tool is installed, and not only its stub. */
  static boolean isInstalled(String tool) {
    try {
      return new ProcessBuilder(tool, "--version")
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
