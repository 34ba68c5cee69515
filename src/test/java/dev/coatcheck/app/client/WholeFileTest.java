package dev.coatcheck.app.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.TestJvm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WholeFileTest {
  private static final int SIGTERM_STATUS = 143;

  @TempDir Path folder;

  @Test
  void twoWritersOfAFileMakeOneWholeFileAfterTheOther() throws Exception {
    Path file = folder.resolve("rows.csv");
    PipedOutputStream first = new PipedOutputStream();
    CompletableFuture<Void> written = written(file, new PipedInputStream(first));
    send(first, "1\n");
    awaitPart();

    WholeFile.write(file, new ByteArrayInputStream("a\nb\n".getBytes(StandardCharsets.UTF_8)));

    assertThat(file).hasContent("a\nb\n");
    send(first, "2\n");
    first.close();
    written.join();
    assertThat(file).hasContent("1\n2\n");
    assertThat(names()).isEqualTo(1);
  }

  @Test
  void aSignalLeavesNothingOfAFileThatIsNotComplete() throws Exception {
    Process process = TestJvm.running(Writer.class, folder.resolve("rows.csv").toString()).start();
    send(process.getOutputStream(), "1\n");
    awaitPart();

    process.toHandle().destroy(); // its input stays open

    assertThat(process.waitFor()).isEqualTo(SIGTERM_STATUS);
    assertThat(folder).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-------", "rw-rw-rw-", "r--r-----"})
  void aFileThatIsReplacedKeepsItsPermissions(String permissions) throws Exception {
    Path file = Files.writeString(folder.resolve("rows.csv"), "old\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));

    WholeFile.write(file, new ByteArrayInputStream("new\n".getBytes(StandardCharsets.UTF_8)));

    assertThat(file).hasContent("new\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo(permissions);
  }

  /** Writes standard input to a file. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) throws IOException {
      WholeFile.write(Path.of(arguments[0]), System.in);
    }
  }

  private static CompletableFuture<Void> written(Path file, InputStream body) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            WholeFile.write(file, body);
          } catch (IOException failed) {
            throw new UncheckedIOException(failed);
          }
        },
        Thread::startVirtualThread);
  }

  private static void send(OutputStream body, String text) throws IOException {
    body.write(text.getBytes(StandardCharsets.UTF_8));
    body.flush();
  }

  private void awaitPart() {
    Awaitility.await().until(() -> names() == 1);
  }

  private long names() throws IOException {
    try (Stream<Path> names = Files.list(folder)) {
      return names.count();
    }
  }
}
