import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.jooq.codegen.GenerationTool;
import org.jooq.meta.jaxb.Configuration;
import org.jooq.meta.jaxb.Database;
import org.jooq.meta.jaxb.ForcedType;
import org.jooq.meta.jaxb.Generate;
import org.jooq.meta.jaxb.Generator;
import org.jooq.meta.jaxb.Jdbc;
import org.jooq.meta.jaxb.Logging;
import org.jooq.meta.jaxb.Target;

/**
 * Writes the jOOQ classes: {@code java build/Codegen.java MIGRATIONS OUT THIS_FILE}. Starts a
 * throw-away Postgres, applies the migrations, reads the schema back. Does nothing while the
 * migrations are what they were.
 */
public class Codegen {
  public static void main(String[] args) throws Exception {
    Path migrations = Path.of(args[0]);
    Path out = Path.of(args[1]);
    Path stamp = out.resolve(".stamp");
    String fingerprint = fingerprint(migrations, Path.of(args[2]));
    if (Files.exists(stamp) && Files.readString(stamp).equals(fingerprint)) {
      return;
    }
    Files.deleteIfExists(stamp); // should this be broken off, what it wrote counts for nothing
    System.setProperty("org.jooq.no-logo", "true");
    System.setProperty("org.jooq.no-tips", "true");
    Path log = Files.createTempFile("coatcheck-codegen-", ".log");
    try (EmbeddedPostgres postgres = postgres(log)) {
      Flyway.configure()
          .dataSource(postgres.getPostgresDatabase())
          .defaultSchema("coatcheck")
          .locations("filesystem:" + migrations)
          .load()
          .migrate();
      GenerationTool.generate(
          new Configuration()
              .withLogging(Logging.WARN)
              .withJdbc(new Jdbc().withUrl(postgres.getJdbcUrl("postgres", "postgres")))
              .withGenerator(generator(out)));
    } catch (Exception failed) {
      System.err.println("initdb and postgres said:");
      System.err.println(Files.readString(log));
      throw failed;
    } finally {
      Files.delete(log);
    }
    Files.writeString(stamp, fingerprint);
  }

  /** With a locale that every machine has, whatever LANG and LC_ALL name. */
  private static EmbeddedPostgres postgres(Path log) throws IOException {
    ProcessBuilder.Redirect output = ProcessBuilder.Redirect.appendTo(log.toFile());
    return EmbeddedPostgres.builder()
        .setLocaleConfig("locale", "C")
        .setOutputRedirector(output)
        .setErrorRedirector(output)
        .start();
  }

  private static Generator generator(Path out) {
    return new Generator()
        .withDatabase(
            new Database()
                .withName("org.jooq.meta.postgres.PostgresDatabase")
                .withInputSchema("coatcheck")
                .withExcludes("flyway_schema_history")
                .withIncludeRoutines(false)
                .withForcedTypes(
                    new ForcedType().withName("INSTANT").withIncludeTypes("timestamptz")))
        .withGenerate(new Generate().withRecords(true).withPojos(false).withJavaTimeTypes(true))
        .withTarget(
            new Target()
                .withPackageName("dev.coatcheck.postgres.sql.schema")
                .withDirectory(out.toString())
                .withClean(true));
  }

  private static String fingerprint(Path migrations, Path self) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    digest.update(Files.readAllBytes(self));
    for (Path file : sorted(migrations)) {
      digest.update(file.getFileName().toString().getBytes(StandardCharsets.UTF_8));
      digest.update(Files.readAllBytes(file));
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static List<Path> sorted(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }
}
