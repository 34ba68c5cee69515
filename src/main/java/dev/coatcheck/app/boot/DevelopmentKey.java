package dev.coatcheck.app.boot;

import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.Scope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/**
 * The API key of an embedded database, in a file that only its owner can read. Other databases get
 * none; {@code coatcheck access create} creates keys there.
 */
final class DevelopmentKey {
  private static final String OWNER_ONLY = "rw-------";

  private DevelopmentKey() {}

  /** The file. Its key is kept while it is valid, and replaced otherwise. */
  static Path ensure(Path home, Access access) throws StartFailed {
    Path file = home.resolve("dev-key");
    try {
      if (Files.exists(file) && access.accepts(Files.readString(file).strip())) {
        return file;
      }
      String key =
          access.create("development", Set.of(Scope.ALL), Optional.empty()).key().secretText();
      Path fresh =
          Files.createTempFile(
              home,
              "dev-key",
              ".new",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
      Files.writeString(fresh, key + "\n", StandardOpenOption.TRUNCATE_EXISTING);
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return file;
    } catch (IOException denied) {
      throw new StartFailed("Can't write the development key to " + file + ".", denied);
    }
  }
}
