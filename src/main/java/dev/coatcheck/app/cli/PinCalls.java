package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.ExitCode;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import dev.coatcheck.core.observe.RootCause;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The requests of {@code coatcheck types pin}: the keys of a file, a thousand at a time. */
final class PinCalls {
  private final GatewayCalls gateway;
  private final String path;
  private final String sealKey;
  private final List<String> conflicts = new ArrayList<>();
  private long pinned;
  private long present;
  private boolean isBegun;

  PinCalls(GatewayCalls gateway, String path, String sealKey) {
    this.gateway = gateway;
    this.path = path;
    this.sealKey = sealKey;
  }

  int run(@Nullable Path file, boolean closes, Output output) throws CommandFailed {
    if (file != null) {
      pin(file);
    }
    String closedAt =
        closes
            ? gateway
                .post(path, Output.object(Map.of("seal_key", sealKey, "close", true)))
                .path("closed_at")
                .asString("")
            : "";
    JsonNode done =
        Output.object(
            Map.ofEntries(
                Map.entry("pinned", pinned),
                Map.entry("present", present),
                Map.entry("conflicts", String.join(" ", conflicts)),
                Map.entry("closed_at", closedAt)));
    output.rows(List.of(done), "pinned", "present", "conflicts", "closed_at");
    return conflicts.isEmpty() ? 0 : ExitCode.FAILED.status();
  }

  private void pin(Path file) throws CommandFailed {
    try (InputStream in = InputFile.openOrStandardInput(file);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      Iterator<List<String>> batches = BatchCalls.batches(lines.lines());
      while (batches.hasNext()) {
        send(batches.next());
      }
    } catch (IOException | UncheckedIOException unreadable) {
      String why = "can't read keys from " + file + ": " + why(unreadable);
      throw isBegun
          ? new CommandFailed(why + ". The keys before were sent; send all of them again.")
          : new Misused(why);
    }
  }

  private static String why(Exception unreadable) {
    return RootCause.of(unreadable) instanceof IOException cause
        ? FileWords.why(cause)
        : RootCause.message(unreadable);
  }

  private void send(List<String> keys) throws CommandFailed {
    isBegun = true;
    JsonNode answer = gateway.post(path, Output.object(Map.of("seal_key", sealKey, "keys", keys)));
    pinned += answer.path("pinned").asLong();
    present += answer.path("present").asLong();
    for (JsonNode key : answer.path("conflicts")) {
      conflicts.add(key.asString());
    }
  }
}
