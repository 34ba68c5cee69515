package dev.coatcheck.bench.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/**
 * The requests of a load: all alike, but for the public ID in their path.
 *
 * @param connections that are open at the same time, each with at most one request under way
 * @param path {@value #ID} in it is replaced by a random line of the file
 * @param ids a file of public IDs of the same length, one a line
 */
public record LoadSpec(
    String host,
    int port,
    int connections,
    String method,
    String path,
    Map<String, String> headers,
    String body,
    Optional<Path> ids) {
  static final String ID = "{id}";

  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** The same requests over another number of connections. */
  public LoadSpec over(int connections) {
    return new LoadSpec(host, port, connections, method, path, headers, body, ids);
  }

  /** The same requests to another server. */
  public LoadSpec to(String host, int port) {
    return new LoadSpec(host, port, connections, method, path, headers, body, ids);
  }

  /** Writes a file for {@link #read}, which only its owner may read: it may hold an API key. */
  Path write() throws IOException {
    return Files.writeString(ownerOnly("coatcheck-load", ".json"), JSON.writeValueAsString(this));
  }

  static LoadSpec read(Path file) throws IOException {
    return JSON.readValue(Files.readString(file), LoadSpec.class);
  }

  static Path ownerOnly(String prefix, String suffix) throws IOException {
    return Files.createTempFile(
        prefix,
        suffix,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  /** The head of a request up to the ID, and from the ID on with the body. */
  String[] halves() {
    StringBuilder request = new StringBuilder();
    request.append(method).append(' ').append(path).append(" HTTP/1.1\r\nHost: ").append(host);
    request.append(':').append(port).append("\r\n");
    headers.forEach(
        (name, value) -> request.append(name).append(": ").append(value).append("\r\n"));
    if (!body.isEmpty()) {
      request.append("Content-Length: ").append(body.length()).append("\r\n");
    }
    request.append("\r\n").append(body);
    int id = request.indexOf(ID);
    return id < 0
        ? new String[] {request.toString(), ""}
        : new String[] {request.substring(0, id), request.substring(id + ID.length())};
  }
}
