package dev.coatcheck.api.routes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A connection with server-sent events, which is read message by message. */
public final class EventListener implements AutoCloseable {
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** The data of the messages with an ID that were read. */
  public final List<String> events = new ArrayList<>();

  public final HttpResponse<InputStream> response;
  private final BufferedReader lines;

  /** What came up to an empty line; a comment has neither a kind nor data. */
  public record Message(@Nullable String id, @Nullable String kind, @Nullable String data) {
    public boolean isHeartbeat() {
      return id == null && kind == null && data == null;
    }
  }

  public EventListener(URI stream, String key, @Nullable String lastEventId) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(stream)
            .header("Authorization", "Bearer " + key)
            .header("Accept", "text/event-stream");
    if (lastEventId != null) {
      request.header("Last-Event-ID", lastEventId);
    }
    response = HTTP.send(request.build(), BodyHandlers.ofInputStream());
    lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
  }

  /** The next message; null at the end. */
  public @Nullable Message next() throws IOException {
    String id = null;
    String kind = null;
    String data = null;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.isEmpty()) {
        if (id != null) {
          events.add(String.valueOf(data));
        }
        return new Message(id, kind, data);
      }
      String value = line.substring(line.indexOf(':') + 1).strip();
      switch (line.substring(0, line.indexOf(':'))) {
        case "id" -> id = value;
        case "event" -> kind = value;
        case "data" -> data = value;
        default -> {} // a comment, or when to come back
      }
    }
    return null;
  }

  /** The next message, of which there must be one. */
  public Message more() throws IOException {
    return Objects.requireNonNull(next(), "the stream ended");
  }

  /** Reads up to the event of a kind; gives its number. */
  public String upTo(String kind) throws IOException {
    for (Message next = next(); next != null; next = next()) {
      if (kind.equals(next.kind()) && next.id() != null) {
        return next.id();
      }
    }
    throw new AssertionError("the stream ended before " + kind);
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }
}
