package dev.coatcheck.app.client;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The gateway that a verb calls, and the API key that it sends. A mixin with the options {@code
 * --url}, {@code --key-file} and {@code --ca-file}.
 */
@Command
final class GatewayAccess {
  static final Duration WAIT = Duration.ofSeconds(30);
  static final Duration CONNECT_WAIT = Duration.ofSeconds(10);
  private static final int KEY_FILE_BYTES_MAX = 4_096;
  private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,200}");

  /** Created at the first call, because it takes half a second. */
  private @Nullable CoatcheckClient client;

  private String keySource = "";

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "Address of the gateway. Default: http://127.0.0.1 at the port in COATCHECK_PORT, or else"
              + " 8080. [COATCHECK_URL]")
  private String url =
      Variables.get("COATCHECK_URL")
          .orElseGet(() -> "http://127.0.0.1:" + Variables.get("COATCHECK_PORT").orElse("8080"));

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description =
          "File with the API key. Default: the key itself in COATCHECK_API_KEY, or else the file"
              + " dev-key in the gateway's home. [COATCHECK_KEY_FILE]")
  private @Nullable Path keyFile;

  @Option(
      names = "--ca-file",
      paramLabel = "FILE",
      description =
          "PEM file of the certificates to trust instead of those of the JDK, for https."
              + " [COATCHECK_CA_FILE]")
  private @Nullable Path caFile;

  static GatewayAccess of(String url, Path keyFile) {
    GatewayAccess access = new GatewayAccess();
    access.url = url;
    access.keyFile = keyFile;
    return access;
  }

  String url() {
    return url;
  }

  /** Where the API key of the client comes from, to be said if the gateway refuses it. */
  String keySource() {
    return keySource;
  }

  CoatcheckClient client() throws CommandFailed {
    CoatcheckClient made = client;
    if (made == null) {
      CoatcheckClient.Builder builder =
          builder().apiKey(key()).deadline(WAIT).connectTimeout(CONNECT_WAIT).triesMax(1);
      Optional<Path> trusted = trusted();
      if (trusted.isPresent() && !url.startsWith("http:")) {
        builder.tls(TrustedCertificates.in(trusted.get()));
      }
      made = builder.build();
      client = made;
    }
    return made;
  }

  private CoatcheckClient.Builder builder() throws Misused {
    try {
      return CoatcheckClient.builder(URI.create(url));
    } catch (IllegalArgumentException malformed) {
      throw new Misused(
          "the address of the gateway must look like http://127.0.0.1:8080, not %s. It comes from --url, COATCHECK_URL or COATCHECK_PORT."
              .formatted(url));
    }
  }

  /** A flag wins over a variable, and a variable with the key over one that names its file. */
  private String key() throws CommandFailed {
    Optional<String> variable = Variables.get("COATCHECK_API_KEY");
    if (keyFile == null && variable.isPresent()) {
      return key(variable.get(), "the variable COATCHECK_API_KEY");
    }
    Optional<Path> named =
        Optional.ofNullable(keyFile).or(() -> Variables.get("COATCHECK_KEY_FILE").map(Path::of));
    Path file =
        named.orElseGet(
            () -> Path.of(Variables.get("COATCHECK_HOME").orElse(".coatcheck"), "dev-key"));
    try {
      return key(
          new String(InputFile.read(file, KEY_FILE_BYTES_MAX), StandardCharsets.UTF_8),
          "the file " + file);
    } catch (IOException missing) {
      String why = "can't read the API key from " + file + ": " + FileWords.why(missing);
      String instead = " the file of an API key with --key-file, or set COATCHECK_API_KEY.";
      throw named.isPresent()
          ? new Misused(why + " Name" + instead)
          : new CommandFailed(
              why
                  + " Start a gateway here (./coatcheck serve), which writes a development key,"
                  + " or go to the folder of one, or name"
                  + instead);
    }
  }

  private Optional<Path> trusted() {
    return Optional.ofNullable(caFile).or(() -> Variables.get("COATCHECK_CA_FILE").map(Path::of));
  }

  private String key(String text, String where) throws Misused {
    keySource = where;
    String key = text.strip();
    if (!KEY.matcher(key).matches()) {
      throw new Misused(where + " holds no API key.");
    }
    return key;
  }
}
