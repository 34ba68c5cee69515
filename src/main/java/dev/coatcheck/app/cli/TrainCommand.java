package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code coatcheck train}: starts a gateway, has it answer requests of each common kind, and stops
 * it. The JVM keeps what was loaded and compiled meanwhile in a cache (its option AOTCacheOutput,
 * JEP 514 and 515), with which later starts take half the time. For the launcher and the image; the
 * home should be a folder that is thrown away.
 */
@Command(
    name = "train",
    hidden = true,
    description = "Runs a gateway for some seconds, for the JVM's cache of classes.")
final class TrainCommand implements Callable<Integer> {
  private static final int ROUNDS = 500;

  /** A later answer ends the command: the first start of a new build waits for it. */
  private static final Duration ANSWER_MAX = Duration.ofSeconds(10);

  private static final String TYPE = "charge";
  private static final Pattern ID = Pattern.compile("ch_[0-9A-Za-z]{24}");

  @Mixin private Settings settings = new Settings();

  @Override
  public Integer call() throws CommandFailed, IOException, InterruptedException {
    try (Gateway gateway = Gateway.start(settings.config())) {
      Path keyFile = gateway.developmentKey().orElseThrow();
      String[] where = {"--url", gateway.url(), "--key-file", keyFile.toString()};
      verb(where, "types", "put", TYPE, "--prefix", "ch", "--redirect", "https://a.example/{id}");
      verb(where, "types", "list");
      verb(where, "mint", TYPE, "--count", "1000");
      requests(gateway.url(), Files.readString(keyFile).strip());
    } catch (StartFailed failed) {
      throw new CommandFailed(String.valueOf(failed.getMessage()));
    }
    return 0;
  }

  private static void verb(String[] where, String... verb) throws CommandFailed {
    CommandLine line = Cli.line().setOut(new PrintWriter(PrintWriter.nullWriter()));
    String[] arguments = Stream.of(verb, where).flatMap(Stream::of).toArray(String[]::new);
    if (line.execute(arguments) != 0) {
      throw new CommandFailed("the verb " + verb[0] + " failed; its reason is above.");
    }
  }

  private static void requests(String url, String key)
      throws CommandFailed, IOException, InterruptedException {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (int round = 0; round < ROUNDS; round++) {
        HttpRequest.Builder mint = request(url + "/v1/ids", key);
        String minted =
            send(
                client,
                mint.header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"type\":\"" + TYPE + "\"}")));
        String id =
            ID.matcher(minted)
                .results()
                .map(MatchResult::group)
                .findFirst()
                .orElseThrow(() -> new CommandFailed("no public ID in the answer: " + minted));
        for (String path : new String[] {"/v1/ids/", "/v1/ids/", "/r/", "/r/"}) { // miss, hit
          var _ = send(client, request(url + path + id, key));
        }
      }
    }
  }

  private static HttpRequest.Builder request(String url, String key) {
    return HttpRequest.newBuilder(URI.create(url))
        .timeout(ANSWER_MAX)
        .header("Authorization", "Bearer " + key);
  }

  private static String send(HttpClient client, HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
  }
}
