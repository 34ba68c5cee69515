package dev.coatcheck.app.boot;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.NewKey;
import dev.coatcheck.ids.access.Rights;
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
  private static final String NAME = "development";
  private static final String OWNER_ONLY = "rw-------";

  private DevelopmentKey() {}

  /** The file. Its key is kept while it is valid, and replaced otherwise. */
  static Path ensure(Path home, Access access, ApiKeys keys) throws StartFailed {
    Path file = home.resolve("dev-key");
    try {
      if (Files.exists(file) && access.accepts(Files.readString(file).strip())) {
        return file;
      }
      // One principal for all of them: it owns client IDs, whichever key is in the file.
      NewKey wanted = new NewKey(NAME, Optional.of(NAME), Rights.of(Set.of(Scope.ALL)));
      if (!(keys.create(wanted, Actor.operator()) instanceof KeyOutcome.Made(ApiKey key, _))) {
        throw new IllegalStateException("an operator may create every key");
      }
      Path fresh =
          Files.createTempFile(
              home,
              "dev-key",
              ".new",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
      Files.writeString(fresh, key.secretText() + "\n", StandardOpenOption.TRUNCATE_EXISTING);
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return file;
    } catch (IOException denied) {
      throw new StartFailed("Can't write the development key to " + file + ".", denied);
    }
  }
}
