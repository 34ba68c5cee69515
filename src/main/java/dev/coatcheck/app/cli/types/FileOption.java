package dev.coatcheck.app.cli.types;

import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A mixin with the option {@code --file}. */
@Command
final class FileOption {
  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      required = true,
      description = "YAML file of types, or - for standard input.")
  private Path path;

  Path path() {
    return path;
  }
}
