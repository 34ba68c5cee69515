package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * {@code coatcheck train [COMMAND…]}: starts a gateway, sends it requests of each common kind, and
 * stops it. The JVM stores the loaded and compiled classes in a cache (its option AOTCacheOutput,
 * JEP 514 and 515), which halves the time of later starts. For the launcher and the image; use a
 * temporary home.
 *
 * <p>The command also runs the program in a JVM with a separate cache for verbs. A start loads all
 * classes of its cache, so a gateway should not load those of the verbs, nor a verb those of a
 * gateway.
 */
@Command(
    name = "train",
    hidden = true,
    description = "Runs a gateway for some seconds, for the JVM's cache of classes.")
final class TrainCommand implements Callable<Integer> {
  private static final int ROUNDS = 500;

  private static final Duration ANSWER_MAX = Duration.ofSeconds(10);

  private static final String DEFINITION =
      """
      {"prefix":"ch","key":"bigint","redirect":{"template":"https://a.example/{id}"}}\
      """;

  private static final String MINT = "{\"type\":\"charge\"}";
  private static final String MINTS = "{\"type\":\"charge\",\"count\":1000}";
  private static final Pattern ID = Pattern.compile("ch_[0-9A-Za-z]{24}");

  @Mixin private Settings settings = new Settings();

  @Parameters(paramLabel = "COMMAND", description = "Starts the program, for a cache of verbs.")
  private List<String> program = List.of();

  @Override
  public Integer call() throws CommandFailed, IOException, InterruptedException {
    try (Gateway gateway = Gateway.start(settings.config())) {
      Path keyFile = gateway.developmentKey().orElseThrow();
      String key = Files.readString(keyFile).strip();
      try (TrainRequests requests = new TrainRequests(URI.create(gateway.url()), key, ANSWER_MAX)) {
        var _ = requests.send("PUT", "/v1/types/charge", DEFINITION);
        var _ = mint(requests);
        if (!program.isEmpty()) {
          verbs(gateway.url(), keyFile);
        }
        answers(requests);
      }
    } catch (StartFailed failed) {
      throw new CommandFailed(String.valueOf(failed.getMessage()));
    }
    return 0;
  }

  private static void answers(TrainRequests requests)
      throws CommandFailed, IOException, InterruptedException {
    var _ = requests.send("POST", "/v1/ids/batch", MINTS);
    var _ = requests.send("POST", "/v1/ids/" + mint(requests) + "/revoke", "{}");
    for (int round = 0; round < ROUNDS; round++) {
      String id = mint(requests);
      for (String path : List.of("/v1/ids/", "/v1/ids/", "/r/", "/r/")) { // miss, hit
        var _ = requests.send("GET", path + id, "");
      }
    }
  }

  private static String mint(TrainRequests requests)
      throws CommandFailed, IOException, InterruptedException {
    String answer = requests.send("POST", "/v1/ids", MINT);
    Matcher id = ID.matcher(answer);
    if (!id.find()) {
      throw new CommandFailed("no public ID in the answer: " + answer);
    }
    return id.group();
  }

  private void verbs(String url, Path keyFile)
      throws CommandFailed, IOException, InterruptedException {
    List<String> command = new ArrayList<>(program);
    command.addAll(List.of("train-verbs", url, keyFile.toString()));
    if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
      throw new CommandFailed("the verbs failed; their reason is above.");
    }
  }
}
