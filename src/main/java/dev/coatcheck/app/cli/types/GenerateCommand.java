package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coatcheck types generate}: source text of the types in a file. No gateway is asked. */
@Command(
    name = "generate",
    description = "Writes the types of a file as source text. No gateway is asked.")
public final class GenerateCommand {
  private static final Pattern PACKAGE =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*");

  @Spec private CommandSpec spec;

  @Command(
      name = "java",
      description = {
        "Writes a Java class for coatcheck-id with the name and prefix of each type as constants.",
        "For each type it has a class, which stands for the type where the application has none."
      },
      footer = {
        "  coatcheck types generate java -f types.yaml \\",
        "      --package com.example.shop --to src/main/java"
      })
  int java(
      @Mixin FileOption file,
      @Option(
              names = "--package",
              required = true,
              paramLabel = "PACKAGE",
              description = "Package of the class.")
          String packageName,
      @Option(
              names = "--to",
              required = true,
              paramLabel = "FOLDER",
              description = "Folder of sources; the folders of the package are made in it.")
          Path folder)
      throws CommandFailed {
    if (!PACKAGE.matcher(packageName).matches()) {
      throw new Misused("--package must look like com.example.shop.");
    }
    return write(
        folder.resolve(packageName.replace('.', '/')).resolve(JavaSource.CLASS + ".java"),
        JavaSource.of(TypesFile.readWithoutSalts(file.path()), packageName));
  }

  @Command(
      name = "typescript",
      description =
          "Writes a module for @coatcheck/client: the type of public IDs of each type, and what"
              + " checks texts.",
      footer = "  coatcheck types generate typescript -f types.yaml --to src/public-ids.ts")
  int typescript(
      @Mixin FileOption file,
      @Option(names = "--to", required = true, paramLabel = "FILE", description = "File to write.")
          Path target)
      throws CommandFailed {
    return write(target, TypeScriptSource.of(TypesFile.readWithoutSalts(file.path())));
  }

  /** The file appears when it is complete; one that is the same already keeps its time. */
  private int write(Path target, String text) throws CommandFailed {
    try {
      if (!Files.isRegularFile(target) || !Files.readString(target).equals(text)) {
        Path folder = target.toAbsolutePath().getParent();
        if (folder != null) {
          Files.createDirectories(folder);
        }
        Path part = target.resolveSibling(target.getFileName() + ".part");
        Files.writeString(part, text);
        Files.move(
            part, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
      }
    } catch (IOException unwritable) {
      throw new CommandFailed("can't write " + target + ": " + unwritable.getMessage());
    }
    spec.commandLine().getOut().println(target);
    return 0;
  }
}
