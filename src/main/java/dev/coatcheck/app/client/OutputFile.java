package dev.coatcheck.app.client;

import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Where an export goes: to a file or to standard output. A mixin with {@code --output}. */
@Command
public final class OutputFile {
  private static final int BUFFER_CHARACTERS = 16 * 1024;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description =
          "File to write, which appears when it is complete. Default, and -: standard output.")
  private @Nullable Path file;

  /** The file; empty for standard output. */
  public Optional<Path> path() {
    return Optional.ofNullable(file).filter(named -> !InputFile.isDash(named));
  }

  /** Writes an export to the file, which appears when it is complete, or else prints it. */
  public void write(InputStream export) throws CommandFailed {
    try (export) {
      if (path().isPresent()) {
        WholeFile.write(path().get(), export);
      } else {
        print(export, command.commandLine().getOut());
      }
    } catch (FileSystemException unwritable) {
      throw new CommandFailed("can't write " + file + ": " + FileWords.why(unwritable));
    } catch (IOException broken) {
      throw new CommandFailed("the export broke off and is not complete: " + broken.getMessage());
    }
  }

  private static void print(InputStream export, PrintWriter out) throws IOException, ReaderGone {
    Reader rows = new InputStreamReader(export, StandardCharsets.UTF_8);
    char[] some = new char[BUFFER_CHARACTERS];
    for (int count; (count = rows.read(some)) >= 0; ) {
      out.write(some, 0, count);
      Output.requireReader(out);
    }
  }
}
