package dev.coatcheck.app.cli;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Commands at the shared gateway of this JVM, with a key that may do all. */
final class AtGateway {
  private static final Path KEY = TestDatabase.fileWith(GatewayFixture.shared().key());

  private AtGateway() {}

  static Terminal run(String... arguments) {
    return Terminal.run(arguments(arguments));
  }

  /** The words of a line, between its blanks. */
  static Terminal shell(String line) {
    return run(line.split(" ", -1));
  }

  static Terminal runWith(String input, String... arguments) {
    return Terminal.runWith(input, arguments(arguments));
  }

  /**
   * An option that is given twice would be an error, so ours come if not given. After {@code --}
   * there are no options.
   */
  static String[] arguments(String... arguments) {
    List<String> given = Arrays.asList(arguments);
    Stream<String> ours =
        Stream.of("--url=" + GatewayFixture.shared().uri(), "--key-file=" + KEY)
            .filter(
                option ->
                    given.stream().noneMatch(g -> g.startsWith(option.replaceFirst("=.*", "="))));
    int end = given.contains("--") ? given.indexOf("--") : given.size();
    return Stream.of(
            given.subList(0, end).stream(), ours, given.subList(end, given.size()).stream())
        .flatMap(words -> words)
        .toArray(String[]::new);
  }
}
