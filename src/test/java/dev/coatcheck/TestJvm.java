package dev.coatcheck;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A JVM with the classes under test, which is quick to start; its errors are ours. */
public final class TestJvm {
  private TestJvm() {}

  public static ProcessBuilder running(Class<?> main, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx96m",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
  }
}
