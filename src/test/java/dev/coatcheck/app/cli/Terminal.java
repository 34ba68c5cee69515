package dev.coatcheck.app.cli;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import picocli.CommandLine;

/** What a command printed, and how it ended. */
public record Terminal(int status, String out, String err) {
  private static final Pattern AGAIN =
      Pattern.compile("\\((database_unavailable|keys_unavailable|overloaded|busy)\\)");

  /** Runs a command, and runs it again when its answer says so: a machine may be busy. */
  public static Terminal run(String... arguments) {
    return patient(() -> runOnce(arguments));
  }

  private static Terminal patient(Supplier<Terminal> command) {
    Terminal first = command.get();
    return first.saysAgain()
        ? Awaitility.await("another end than " + first)
            .until(command::get, terminal -> !terminal.saysAgain())
        : first;
  }

  boolean saysAgain() {
    return AGAIN.matcher(err).find();
  }

  static Terminal runOnce(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Cli.line(arguments);
    line.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    int status = Cli.execute(line, arguments);
    return new Terminal(status, out.toString(), err.toString());
  }

  /** With something on standard input. */
  public static Terminal runWith(String input, String... arguments) {
    return patient(() -> runOnceWith(input, arguments));
  }

  private static Terminal runOnceWith(String input, String... arguments) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
    try {
      return runOnce(arguments);
    } finally {
      System.setIn(before);
    }
  }

  public List<String> lines() {
    return out.lines().toList();
  }
}
