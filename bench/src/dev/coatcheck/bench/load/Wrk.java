package dev.coatcheck.bench.load;

import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.bench.machine.Tool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** wrk, which takes less of the machine than any generator on a JVM, in a closed loop. */
final class Wrk implements AutoCloseable {
  private static final Tool WRK = Tool.named("wrk");
  private static final Pattern RESULT =
      Pattern.compile(
          "(?m)^coatcheck requests=(\\d+) micros=(\\d+) p50=([\\d.]+) p99=([\\d.]+)"
              + " connect=(\\d+) read=(\\d+) write=(\\d+) timeout=(\\d+) status=(\\d+)$");

  /** What wrk itself prints is rounded. */
  private static final String DONE =
      """
      function done(summary, latency, requests)
        local errors = summary.errors
        io.write(string.format(
          "coatcheck requests=%d micros=%d p50=%f p99=%f"
            .. " connect=%d read=%d write=%d timeout=%d status=%d\\n",
          summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
          errors.connect, errors.read, errors.write, errors.timeout, errors.status))
      end
      """;

  private static final String SAME =
      """
      function request()
        return before .. after
      end
      """;

  private final LoadSpec spec;
  private final Path script;

  private Wrk(LoadSpec spec, Path script) {
    this.spec = spec;
    this.script = script;
  }

  /** Whether wrk is installed. */
  static boolean isInstalled() {
    return WRK.isInstalled();
  }

  static Wrk of(LoadSpec spec) throws IOException {
    return new Wrk(
        spec, Files.writeString(LoadSpec.ownerOnly("coatcheck-load", ".lua"), script(spec)));
  }

  static String script(LoadSpec spec) {
    String[] halves = spec.halves();
    return "local before = %s\nlocal after = %s\n".formatted(quoted(halves[0]), quoted(halves[1]))
        + spec.ids().map(Wrk::random).orElse(SAME)
        + DONE;
  }

  /** The IDs are one string: as single strings they would not fit into the memory of LuaJIT. */
  private static String random(Path ids) {
    return """
    local file = io.open(%s)
    local ids = file:read("*a")
    file:close()
    local width = ids:find("\\n")
    local count = #ids / width
    math.randomseed(os.time())
    function request()
      local at = math.random(0, count - 1) * width
      return before .. ids:sub(at + 1, at + width - 1) .. after
    end
    """
        .formatted(quoted(ids.toString()));
  }

  /** As a string of Lua. */
  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || c == '"' || c == '\\' || c > '~') {
        quoted.append('\\').append("%03d".formatted((int) c & 0xff));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  /** Rounds the time up to whole seconds, as wrk does. */
  LoadResult closed(Duration time) {
    List<String> command = new ArrayList<>(List.of(WRK.path().toString(), "--threads=1"));
    command.add("--connections=" + spec.connections());
    command.add("--duration=" + Math.max(1, (time.toMillis() + 999) / 1000) + "s");
    command.add("--timeout=30s");
    command.add("--script=" + script);
    command.add("http://" + spec.host() + ":" + spec.port() + "/");
    return parse(Tool.output(command));
  }

  /**
   * Reads what the script prints. A status of 400 and above counts as refused, because wrk doesn't
   * tell which it was.
   */
  static LoadResult parse(String output) {
    Matcher result = RESULT.matcher(output);
    if (!result.find()) {
      throw new MeasureFailed("wrk printed no result: " + output.strip());
    }
    long refused = number(result, 9);
    return new LoadResult(
        number(result, 1) - refused,
        refused,
        number(result, 5) + number(result, 6) + number(result, 7) + number(result, 8),
        number(result, 2) / 1e6,
        Double.parseDouble(result.group(3)) / 1e3,
        Double.parseDouble(result.group(4)) / 1e3,
        List.of());
  }

  private static long number(Matcher result, int group) {
    return Long.parseLong(result.group(group));
  }

  @Override
  public void close() {
    try {
      Files.delete(script);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
