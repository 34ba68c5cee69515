package dev.coatcheck.bench.machine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program in a JVM of its own, from the class path of this one.
 *
 * @param before a command that starts the JVM; may be empty
 */
public record JavaProgram(String mainClass, List<String> jvmOptions, List<String> before) {
  public static JavaProgram named(String mainClass) {
    return new JavaProgram(mainClass, List.of(), List.of());
  }

  public JavaProgram options(List<String> jvmOptions) {
    return new JavaProgram(mainClass, jvmOptions, before);
  }

  public JavaProgram after(List<String> before) {
    return new JavaProgram(mainClass, jvmOptions, before);
  }

  public ProcessBuilder builder(List<String> arguments) {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
    command.addAll(arguments);
    return new ProcessBuilder(command);
  }
}
