import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Has a gateway answer requests of each common kind, runs a verb against it, and stops it: {@code
 * java build/Train.java HOME GATEWAY… -- VERB…}. Both commands start a JVM that keeps what it
 * loaded and compiled in a cache (its option AOTCacheOutput, JEP 514 and 515), with which later
 * starts take half the time. All classes of a cache are loaded at every start that uses it, so
 * gateways and verbs have caches of their own.
 *
 * <p>The gateway keeps its data in HOME, a folder that is thrown away. The verb is given the URL of
 * the gateway and its key.
 */
public class Train {
  private static final int ROUNDS = 500;

  /** On a busy machine the gateway may be late. */
  private static final int ATTEMPTS_MAX = 50;

  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final Duration ANSWER_MAX = Duration.ofSeconds(10);

  private static final Pattern LISTENS = Pattern.compile("listens on (http://\\S+)");
  private static final Pattern ID = Pattern.compile("ch_[0-9A-Za-z]{24}");

  private static final String DEFINITION =
      """
      {"prefix":"ch","key":"bigint","redirect":{"template":"https://a.example/{id}"}}\
      """;

  private static final String MINT = "{\"type\":\"charge\"}";
  private static final String MINTS = "{\"type\":\"charge\",\"count\":1000}";

  private final HttpClient client = HttpClient.newHttpClient();
  private final String gateway;
  private final String key;

  private Train(String gateway, String key) {
    this.gateway = gateway;
    this.key = key;
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    int split = Arrays.asList(args).indexOf("--");
    Process gateway =
        new ProcessBuilder(Arrays.asList(args).subList(1, split))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      BufferedReader said = gateway.inputReader();
      String url = url(said);
      Thread.ofVirtual().start(() -> said.lines().forEach(System.out::println));
      Path keyFile = Path.of(args[0], "dev-key");
      Train train = new Train(url, Files.readString(keyFile).strip());
      train.send("PUT", "/v1/types/charge", DEFINITION);
      List<String> verb = new ArrayList<>(Arrays.asList(args).subList(split + 1, args.length));
      verb.addAll(List.of("--url", url, "--key-file", keyFile.toString()));
      run(verb);
      train.answers();
    } finally {
      gateway.toHandle().destroy(); // it writes its cache, and says so, when it ends
      gateway.waitFor();
    }
  }

  private static String url(BufferedReader said) throws IOException {
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      Matcher listens = LISTENS.matcher(line);
      if (listens.find()) {
        return listens.group(1);
      }
    }
    throw new IOException("the gateway did not start; its reason is above");
  }

  private static void run(List<String> verb) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(verb).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (InputStream printed = process.getInputStream()) {
      printed.readAllBytes();
    }
    if (process.waitFor() != 0) {
      throw new IOException("the verb failed; its reason is above");
    }
  }

  private void answers() throws IOException, InterruptedException {
    send("POST", "/v1/ids/batch", MINTS);
    send("POST", "/v1/ids/" + mint() + "/revoke", "{}");
    for (int round = 0; round < ROUNDS; round++) {
      String id = mint();
      for (String path : List.of("/v1/ids/", "/v1/ids/", "/r/", "/r/")) { // miss, hit
        send("GET", path + id, "");
      }
    }
  }

  private String mint() throws IOException, InterruptedException {
    String answer = send("POST", "/v1/ids", MINT);
    Matcher id = ID.matcher(answer);
    if (!id.find()) {
      throw new IOException("no public ID in the answer: " + answer);
    }
    return id.group();
  }

  private String send(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(gateway + path))
            .timeout(ANSWER_MAX)
            .header("Authorization", "Bearer " + key)
            .header("Content-Type", "application/json")
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    for (int attempt = 1; ; attempt++) {
      try {
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        if (answer.statusCode() < 500) {
          return answer.body();
        }
        if (attempt == ATTEMPTS_MAX) {
          throw new IOException(
              "the answer to %s %s is %d %s"
                  .formatted(method, path, answer.statusCode(), answer.body()));
        }
      } catch (IOException broken) {
        if (attempt == ATTEMPTS_MAX) {
          throw broken;
        }
      }
      Thread.sleep(PAUSE);
    }
  }
}
