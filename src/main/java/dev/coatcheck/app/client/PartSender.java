package dev.coatcheck.app.client;

import dev.coatcheck.bulk.rows.Lines;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.core.file.FileWords;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Sends a file to the gateway part by part. After each acknowledged part it saves its progress
 * beside the file. If an answer is lost, the part is sent again, which is harmless. Refused rows
 * are copied to another file, with the header, so that they can be corrected and imported. Standard
 * input can't be read again, so nothing is saved for it.
 */
final class PartSender implements AutoCloseable {
  private static final int TRIES_MAX = 6;
  private static final long PAUSE_MILLIS = 1_000;

  /** Of the files beside which that of refused rows is written. */
  private static final Path STANDARD_INPUT = Path.of("stdin");

  private final Path file;
  private final RowFormat format;
  private final GatewayCalls gateway;
  private final String path;

  /** Null for standard input. */
  private final @Nullable FileChannel channel;

  private final byte[] header;
  private final Lines lines;
  private final long linesBeginAt;
  private ImportProgress progress;

  private PartSender(
      Path file, RowFormat format, GatewayCalls gateway, String path, @Nullable FileChannel channel)
      throws IOException, CommandFailed {
    this.file = file;
    this.format = format;
    this.gateway = gateway;
    this.path = path;
    this.channel = channel;
    String url = gateway.url() + path;
    progress = channel == null ? ImportProgress.ofStandardInput(url) : begunOrNew(url, file);
    linesBeginAt = progress.offset();
    Lines all = new Lines(channel == null ? System.in : Channels.newInputStream(channel));
    header = format == RowFormat.CSV && all.next() ? withEnd(all) : new byte[0];
    if (channel == null || linesBeginAt == 0) {
      lines = all;
    } else {
      channel.position(linesBeginAt);
      lines = new Lines(Channels.newInputStream(channel));
    }
  }

  private static ImportProgress begunOrNew(String url, Path file)
      throws IOException, CommandFailed {
    ImportProgress none = ImportProgress.none(url, file);
    ImportProgress begun = ImportProgress.load(file).orElse(none);
    if (!begun.continues(none)) {
      throw new CommandFailed(
          "after the import of "
              + file
              + " stopped, the file or the gateway's address changed. Delete "
              + ImportProgress.fileBeside(file)
              + " to import the file from its first line; imported rows count as existing.");
    }
    return begun;
  }

  /**
   * Starts, or continues after the last saved progress.
   *
   * @param path of the operation that takes the file
   */
  static PartSender open(Path file, RowFormat format, GatewayCalls gateway, String path)
      throws IOException, CommandFailed {
    FileChannel channel = FileChannel.open(file);
    try {
      return new PartSender(file, format, gateway, path, channel);
    } catch (IOException | CommandFailed | RuntimeException failed) {
      channel.close();
      throw failed;
    }
  }

  static PartSender ofStandardInput(RowFormat format, GatewayCalls gateway, String path)
      throws IOException, CommandFailed {
    return new PartSender(STANDARD_INPUT, format, gateway, path, null);
  }

  ImportProgress progress() {
    return progress;
  }

  Path rejected() {
    return beside(".rejected." + format.wireName());
  }

  Path reasons() {
    return beside(".rejected.txt");
  }

  /**
   * Sends the next part.
   *
   * @return false if all parts are done
   */
  boolean sendPart() throws IOException, CommandFailed {
    Part part = Part.read(header, lines);
    boolean first = progress.offset() == 0;
    if (part.lines() == 0 && !first) {
      if (channel != null) {
        Files.deleteIfExists(ImportProgress.fileBeside(file));
      }
      return false;
    }
    byte[] body = part.body();
    JsonNode answer = send(body);
    long linesBefore = first && header.length > 0 ? 1 : progress.lines();
    setAside(part, body, answer.path("errors"), linesBefore);
    progress =
        new ImportProgress(
            progress.url(),
            progress.size(),
            progress.modifiedMillis(),
            linesBeginAt + part.end(),
            linesBefore + part.lines(),
            progress.created() + answer.path("created").asLong(),
            progress.existing() + answer.path("existing").asLong(),
            progress.refused() + answer.path("refused").asLong(),
            size(rejected()),
            size(reasons()));
    if (channel != null) {
      progress.save(file);
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }

  private JsonNode send(byte[] body) throws CommandFailed {
    for (int tried = 1; ; tried++) {
      CommandFailed failed;
      try {
        Reply reply =
            gateway.post(path + "?errors_max=" + Part.LINES_MAX, format.mediaType(), body);
        if (reply.isSuccess()) {
          return reply.body();
        }
        failed = reply.failure();
        if (!(failed instanceof NoAnswer)) {
          throw failed;
        }
      } catch (NoAnswer unknown) {
        failed = unknown;
      }
      if (tried == TRIES_MAX) {
        throw new CommandFailed(
            failed.getMessage()
                + " The import is complete up to line "
                + progress.lines()
                + (channel == null
                    ? ", and standard input can't be read again: send all rows once more; imported"
                        + " rows count as existing."
                    : "; run the same command again to continue."));
      }
      pause();
    }
  }

  private static void pause() throws CommandFailed {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted.");
    }
  }

  /** First cuts off what was written after the last saved progress, because it is written again. */
  private void setAside(Part part, byte[] body, JsonNode errors, long linesBefore)
      throws IOException {
    ByteArrayOutputStream rows = new ByteArrayOutputStream();
    StringBuilder why = new StringBuilder();
    if (progress.rejectedBytes() == 0 && !errors.isEmpty()) {
      rows.writeBytes(header);
    }
    for (JsonNode error : errors) {
      int index = part.indexOf(error.path("line").asInt());
      rows.writeBytes(part.line(body, index));
      why.append("line ")
          .append(linesBefore + index + 1)
          .append(": ")
          .append(error.path("code").asString())
          .append(". ")
          .append(error.path("detail").asString())
          .append('\n');
    }
    append(rejected(), progress.rejectedBytes(), rows.toByteArray());
    append(reasons(), progress.reasonsBytes(), why.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static void append(Path file, long from, byte[] bytes) throws IOException {
    if (from == 0 && bytes.length == 0) {
      Files.deleteIfExists(file);
      return;
    }
    try (FileChannel target =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      target.truncate(from).position(from);
      target.write(ByteBuffer.wrap(bytes));
    } catch (IOException full) {
      throw FileWords.named(file, full);
    }
  }

  private static long size(Path file) throws IOException {
    return Files.exists(file) ? Files.size(file) : 0;
  }

  private Path beside(String ending) {
    return file.resolveSibling(file.getFileName() + ending);
  }

  private static byte[] withEnd(Lines line) {
    byte[] header = Arrays.copyOfRange(line.bytes(), line.from(), line.to() + 1);
    header[header.length - 1] = '\n';
    return header;
  }

  /**
   * The lines of a file that one request sends, after the header of the file if it has a header.
   */
  private static final class Part {
    /** A multiple of the blocks by which a table migration judges times. */
    static final int LINES_MAX = 49_920;

    private static final int BYTES_MAX = 4 * 1024 * 1024;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256 * 1024);
    private final List<Integer> starts = new ArrayList<>();
    private final int headerLines;
    private long end;

    private Part(byte[] header) {
      headerLines = header.length == 0 ? 0 : 1;
      bytes.writeBytes(header);
    }

    /** Reads the next lines, empty ones too, so that their numbers stay right. */
    static Part read(byte[] header, Lines lines) throws IOException {
      Part part = new Part(header);
      while (part.lines() < LINES_MAX && part.bytes.size() < BYTES_MAX && lines.next()) {
        part.starts.add(part.bytes.size());
        part.bytes.write(lines.bytes(), lines.from(), lines.to() - lines.from());
        part.bytes.write('\n');
      }
      part.end = lines.position();
      return part;
    }

    int lines() {
      return starts.size();
    }

    /** Position of the lines' stream behind the part. */
    long end() {
      return end;
    }

    byte[] body() {
      return bytes.toByteArray();
    }

    /** A line's number in the part from its number in the request. */
    int indexOf(int lineInRequest) {
      return lineInRequest - headerLines - 1;
    }

    byte[] line(byte[] body, int index) {
      int to = index + 1 < starts.size() ? starts.get(index + 1) : body.length;
      return Arrays.copyOfRange(body, starts.get(index), to);
    }
  }
}
