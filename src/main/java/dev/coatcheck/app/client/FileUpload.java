package dev.coatcheck.app.client;

import dev.coatcheck.bulk.rows.RowFormat;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;

/** Sends a file of rows to an operation of the gateway, in parts, and prints the tally. */
public final class FileUpload {
  private static final long BYTES_A_STEP = 1024;

  private final GatewayCalls gateway;
  private final PrintWriter out;
  private final PrintWriter err;

  public FileUpload(GatewayCalls gateway, PrintWriter out, PrintWriter err) {
    this.gateway = gateway;
    this.out = out;
    this.err = err;
  }

  /**
   * Sends the whole file; after a stopped upload, its rest.
   *
   * @param path of the operation that takes the file
   * @param format of the file; null: the ending of its name
   * @return the exit status: 0, or 1 where rows were refused
   */
  public int send(String path, Path file, @Nullable String format) throws CommandFailed {
    if (!Files.isRegularFile(file)) {
      throw new CommandFailed("there is no file " + file + ".");
    }
    try (ImportFile source = ImportFile.open(file, format(file, format), gateway, path);
        ProgressBar bar =
            Bars.open("importing", " KiB", Math.max(1, Files.size(file) / BYTES_A_STEP))) {
      bar.stepTo(source.progress().offset() / BYTES_A_STEP);
      while (source.sendPart()) {
        bar.stepTo(source.progress().offset() / BYTES_A_STEP);
      }
      bar.stepTo(bar.getMax());
      return report(source);
    } catch (IOException broken) {
      throw new CommandFailed("the file can't be read or written: " + broken.getMessage());
    }
  }

  private int report(ImportFile source) {
    ImportProgress done = source.progress();
    out.printf(
        "%d rows: %d created, %d existing, %d refused.%n",
        done.created() + done.existing() + done.refused(),
        done.created(),
        done.existing(),
        done.refused());
    if (done.refused() == 0) {
      return 0;
    }
    err.printf(
        "coatcheck: the refused rows are in %s, the reasons in %s.%n",
        source.rejected(), source.reasons());
    return 1;
  }

  private static RowFormat format(Path file, @Nullable String format) throws Misused {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    String wanted =
        format != null
            ? format
            : name.substring(name.lastIndexOf('.') + 1).replace("jsonl", "ndjson");
    return RowFormat.named(wanted)
        .orElseThrow(() -> new Misused("add --format csv or --format ndjson."));
  }
}
