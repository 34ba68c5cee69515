import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/** A tar.gz with one folder. Its bytes say nothing of when, where and by whom it was made. */
final class Archive implements AutoCloseable {
  private static final int EXECUTABLE = 0755;
  private static final int READABLE = 0644;

  private final TarArchiveOutputStream tar;
  private final String folder;
  private final Instant time;

  Archive(Path file, String folder, Instant time) throws IOException {
    this.tar =
        new TarArchiveOutputStream(
            new GZIPOutputStream(new BufferedOutputStream(Files.newOutputStream(file)), 1 << 16));
    this.folder = folder;
    this.time = time;
    tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
    write(new TarArchiveEntry(folder + "/"), EXECUTABLE);
  }

  void add(String name, Path file) throws IOException {
    TarArchiveEntry entry = new TarArchiveEntry(folder + "/" + name);
    entry.setSize(Files.size(file));
    begin(entry, Files.isExecutable(file) ? EXECUTABLE : READABLE);
    Files.copy(file, tar);
    tar.closeArchiveEntry();
  }

  /** A folder with all that is below it, in the order of names. */
  void addAll(String name, Path below) throws IOException {
    write(new TarArchiveEntry(folder + "/" + name + "/"), EXECUTABLE);
    List<Path> paths;
    try (Stream<Path> listed = Files.list(below)) {
      paths = listed.sorted().toList();
    }
    for (Path path : paths) {
      String inside = name + "/" + path.getFileName();
      if (Files.isSymbolicLink(path)) {
        TarArchiveEntry link = new TarArchiveEntry(folder + "/" + inside, TarConstants.LF_SYMLINK);
        link.setLinkName(Files.readSymbolicLink(path).toString());
        write(link, EXECUTABLE);
      } else if (Files.isDirectory(path)) {
        addAll(inside, path);
      } else {
        add(inside, path);
      }
    }
  }

  private void write(TarArchiveEntry entry, int mode) throws IOException {
    begin(entry, mode);
    tar.closeArchiveEntry();
  }

  private void begin(TarArchiveEntry entry, int mode) throws IOException {
    entry.setMode(mode);
    entry.setModTime(time.toEpochMilli());
    entry.setIds(0, 0);
    entry.setNames("root", "root");
    tar.putArchiveEntry(entry);
  }

  @Override
  public void close() throws IOException {
    tar.close();
  }
}
