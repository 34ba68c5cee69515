package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * {@code coatcheck train-verbs}: runs some verbs against a gateway in one JVM, which stores their
 * classes in a cache. {@code coatcheck train} starts it.
 */
@Command(name = "train-verbs", hidden = true, description = "Runs verbs, for the JVM's cache.")
final class TrainVerbsCommand implements Callable<Integer> {
  /** On a busy machine the gateway may be slow. */
  private static final int ATTEMPTS_MAX = 10;

  private static final Duration PAUSE = Duration.ofMillis(200);

  @Parameters(index = "0", paramLabel = "URL")
  private String url;

  @Parameters(index = "1", paramLabel = "KEY_FILE")
  private String keyFile;

  @Override
  public Integer call() throws CommandFailed, InterruptedException {
    verb("types", "put", "verb", "--prefix", "verb");
    verb("types", "list");
    verb("mint", "verb", "--count", "1000");
    verb("keys", "next", "--count", "10");
    return 0;
  }

  private void verb(String... verb) throws CommandFailed, InterruptedException {
    CommandLine line = Cli.line().setOut(new PrintWriter(PrintWriter.nullWriter()));
    String[] arguments =
        Stream.concat(Stream.of(verb), Stream.of("--url", url, "--key-file", keyFile))
            .toArray(String[]::new);
    for (int attempt = 1; line.execute(arguments) != 0; attempt++) {
      if (attempt == ATTEMPTS_MAX) {
        throw new CommandFailed("the verb " + verb[0] + " failed; its reason is above.");
      }
      Thread.sleep(PAUSE);
    }
  }
}
