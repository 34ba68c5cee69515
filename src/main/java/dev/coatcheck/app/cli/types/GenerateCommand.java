package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code coatcheck types generate}: source text of the types in a file. No gateway is asked. */
@Command(
    name = "generate",
    description = "Writes the types of a file as source text. No gateway is asked.")
public final class GenerateCommand {
  private static final Pattern PACKAGE =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*");

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
  void java(
      @Mixin FileOption file,
      @Mixin Output output,
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
    write(
        folder.resolve(packageName.replace('.', '/')).resolve(JavaSource.CLASS + ".java"),
        JavaSource.of(TypesFile.readWithoutSalts(file.path()), packageName),
        output);
  }

  @Command(
      name = "typescript",
      description =
          "Writes a module for @coatcheck/client: the type of public IDs of each type, and what"
              + " checks texts.",
      footer = "  coatcheck types generate typescript -f types.yaml --to src/public-ids.ts")
  void typescript(
      @Mixin FileOption file,
      @Mixin Output output,
      @Option(names = "--to", required = true, paramLabel = "FILE", description = "File to write.")
          Path target)
      throws CommandFailed {
    write(target, TypeScriptSource.of(TypesFile.readWithoutSalts(file.path())), output);
  }

  private static void write(Path target, String text, Output output) throws CommandFailed {
    TextFile.write(target, text);
    output.print(Map.of("file", target.toString()), target.toString());
  }
}
