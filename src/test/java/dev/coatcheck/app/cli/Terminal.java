package dev.coatcheck.app.cli;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;

/** What a command printed, and how it ended. */
public record Terminal(int status, String out, String err) {
  public static Terminal run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Cli.line();
    line.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    int status = line.execute(arguments);
    return new Terminal(status, out.toString(), err.toString());
  }

  /** With something on standard input. */
  public static Terminal runWith(String input, String... arguments) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
    try {
      return run(arguments);
    } finally {
      System.setIn(before);
    }
  }

  public List<String> lines() {
    return out.lines().toList();
  }
}
