package dev.coatcheck.postgres.embedded;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * A Postgres of our own. Its files are in a home directory and stay there. It listens on loopback
 * only, and requires a password, because other users of the machine can reach loopback too.
 *
 * <pre>
 * home/lock                held by the running instance
 * home/postgres/…          the programs
 * home/data/               the cluster; data.new-… while it is being created
 * home/database-password   mode 0600
 * home/postgres.log        of this run; postgres.log.1 of the previous one
 * home/initdb.log          of an initdb that failed
 * </pre>
 *
 * <p>A process that ends by SIGTERM or Ctrl-C stops its Postgres, even during the first start. A
 * process that is killed with SIGKILL leaves Postgres running. The next start on that home stops it
 * and starts again; no commit is lost.
 */
public final class EmbeddedDatabase implements AutoCloseable {
  private static final String NAME = "coatcheck";

  /** Characters that {@code pg_ctl} would pass to a shell inside double quotes. */
  private static final String REFUSED_IN_PATHS = "\"$`\\\n";

  private final HomeLock lock;
  private final Postmaster postmaster;
  private final Thread atExit;
  private final int port;
  private final String password;

  private EmbeddedDatabase(
      HomeLock lock, Postmaster postmaster, Thread atExit, int port, String password) {
    this.lock = lock;
    this.postmaster = postmaster;
    this.atExit = atExit;
    this.port = port;
    this.password = password;
  }

  /** Starts Postgres on the home, which is created (mode 0700) if it doesn't exist. */
  public static EmbeddedDatabase start(Path home) throws UnusableDatabase {
    return start(home, home.resolve("postgres"));
  }

  /** Same, with the programs in a folder that several homes may share. */
  public static EmbeddedDatabase start(Path home, Path programs) throws UnusableDatabase {
    try {
      Path real = prepared(home.toAbsolutePath().normalize());
      HomeLock lock = HomeLock.take(real);
      try {
        return startLocked(real, programs.toAbsolutePath(), lock);
      } catch (Throwable failure) {
        lock.close();
        throw failure;
      }
    } catch (FileSystemException failure) {
      throw unusable(home, failure);
    } catch (IOException | SQLException failure) {
      throw new UnusableDatabase(
          "Postgres did not start in the home " + home + ": " + failure.getMessage(), failure);
    }
  }

  /** Whether a database was made in the home. */
  public static boolean isIn(Path home) {
    return Files.isDirectory(new DataDirectory(home).data());
  }

  /**
   * How a command can log in to the Postgres of the instance that runs on this home. Empty if no
   * instance runs.
   */
  public static Optional<DatabaseSettings> running(Path home, int connectionsMax)
      throws UnusableDatabase {
    if (!Files.isDirectory(home)) {
      return Optional.empty();
    }
    try {
      Path real = home.toRealPath();
      Optional<HomeLock> free = HomeLock.tryTake(real);
      if (free.isPresent()) {
        free.get().close();
        return Optional.empty();
      }
      DataDirectory cluster = new DataDirectory(real);
      OptionalInt port = cluster.port();
      if (port.isEmpty()) {
        throw new UnusableDatabase(
            "The instance that uses the home " + home + " is starting or stopping: try again.");
      }
      return Optional.of(
          new DatabaseSettings(
              jdbcUrl(port.getAsInt(), NAME), NAME, cluster.password(), connectionsMax));
    } catch (FileSystemException failure) {
      throw unusable(home, failure);
    } catch (IOException failure) {
      throw new UnusableDatabase(
          "Can't see what runs in the home " + home + ": " + failure.getMessage(), failure);
    }
  }

  public String jdbcUrl() {
    return jdbcUrl(port, NAME);
  }

  public String user() {
    return NAME;
  }

  public String password() {
    return password;
  }

  /** A future that completes when Postgres ends. */
  public CompletableFuture<?> end() {
    return postmaster
        .find()
        .<CompletableFuture<?>>map(ProcessHandle::onExit)
        .orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  /** Stops Postgres and releases the home. A second call does nothing. */
  @Override
  public void close() throws UnusableDatabase {
    try (lock) {
      postmaster.stop();
      callerClosesAtExit();
    } catch (IOException failure) {
      throw new UnusableDatabase("Postgres could not be stopped: " + failure.getMessage(), failure);
    }
  }

  /** From now on the caller closes this at the exit of the process, after all that uses it. */
  public void callerClosesAtExit() {
    forget(atExit);
  }

  private static Thread atExit(Postmaster postmaster) throws UnusableDatabase {
    Thread hook =
        new Thread(
            () -> {
              try {
                postmaster.end();
              } catch (UnusableDatabase | IOException failure) {
                System.err.println("Postgres could not be stopped: " + failure.getMessage());
              }
            },
            "end-postgres");
    try {
      Runtime.getRuntime().addShutdownHook(hook);
      return hook;
    } catch (IllegalStateException ending) {
      throw new UnusableDatabase("This process was told to end.", ending);
    }
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The shutdown hook is already running.
    }
  }

  private static Path prepared(Path home) throws UnusableDatabase, IOException {
    if (home.toString().chars().anyMatch(c -> REFUSED_IN_PATHS.indexOf(c) >= 0)) {
      throw new UnusableDatabase(
          "Can't use the home " + home + ": its path holds a quote, dollar sign or backslash.");
    }
    Path parent = home.getParent();
    if (parent != null && !Files.isDirectory(home)) {
      Files.createDirectories(parent);
      Files.createDirectory(
          home, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    return home.toRealPath();
  }

  private static EmbeddedDatabase startLocked(Path home, Path programs, HomeLock lock)
      throws UnusableDatabase, IOException, SQLException {
    int userNumber = DataDirectory.currentUserNumber(home);
    DataDirectory cluster = new DataDirectory(home);
    cluster.requireUsable(userNumber);
    PostgresBinaries binaries = PostgresBinaries.below(programs, userNumber == 0);
    Postmaster postmaster = new Postmaster(binaries, cluster.data());
    Thread atExit = atExit(postmaster);
    try {
      binaries.unpack();
      postmaster.stop();
      cluster.create(binaries, NAME);
      String password = cluster.password();
      int port = postmaster.start(home.resolve("postgres.log"));
      EmbeddedDatabase database = new EmbeddedDatabase(lock, postmaster, atExit, port, password);
      database.createIfAbsent();
      return database;
    } catch (UnusableDatabase | IOException | SQLException | RuntimeException failure) {
      postmaster.stop();
      forget(atExit);
      throw failure;
    }
  }

  private void createIfAbsent() throws SQLException {
    try (Connection connection =
            DriverManager.getConnection(jdbcUrl(port, "postgres"), user(), password());
        Statement statement = connection.createStatement()) {
      try (ResultSet found =
          statement.executeQuery("select 1 from pg_database where datname = '" + NAME + "'")) {
        if (found.next()) {
          return;
        }
      }
      statement.execute("create database " + NAME);
    }
  }

  private static String jdbcUrl(int port, String database) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + database;
  }

  private static UnusableDatabase unusable(Path home, FileSystemException failure) {
    String why =
        switch (failure) {
          case AccessDeniedException denied -> "permission denied for " + denied.getFile();
          case FileAlreadyExistsException file -> file.getFile() + " is not a directory";
          case NoSuchFileException file -> "can't make " + file.getFile();
          default -> Objects.requireNonNullElse(failure.getReason(), failure.toString());
        };
    return new UnusableDatabase("Can't use the home " + home + ": " + why + ".", failure);
  }
}
