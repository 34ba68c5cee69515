package dev.coatcheck.core.file;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;

/** Says why a file can't be read or written: the message of the JDK is often just its name. */
public final class FileWords {
  private FileWords() {}

  /** The same failure with the name of the file, which that of a full disk lacks. */
  public static FileSystemException named(Path file, IOException failed) {
    return failed instanceof FileSystemException named
        ? named
        : new FileSystemException(file.toString(), null, failed.getMessage());
  }

  /** The reason, which follows the name of the file. */
  public static String why(IOException failed) {
    return switch (failed) {
      case NoSuchFileException _ -> "there is no such file.";
      case AccessDeniedException _ -> "permission denied.";
      case CharacterCodingException _ -> "it is not UTF-8.";
      case FileAlreadyExistsException file -> file.getFile() + " is no folder.";
      case FileSystemException odd when odd.getReason() != null -> odd.getReason() + ".";
      default -> Objects.requireNonNullElse(failed.getMessage(), failed.toString());
    };
  }
}
