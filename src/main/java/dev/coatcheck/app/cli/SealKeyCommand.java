package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.ExitCode;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.Variables;
import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.seal.SealKey;
import dev.coatcheck.core.seal.SealKeys;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/**
 * {@code coatcheck types seal-key}: the file of seal keys, on this machine. A key is never printed
 * and never sent.
 */
@Command(name = "seal-key", description = "Makes, lists and checks the seal keys of sealed types.")
final class SealKeyCommand {
  private static final int KEY_BYTES = 32;
  private static final String VARIABLE = "COATCHECK_SEAL_KEYS_FILE";
  private static final String FILE = "File with the seal keys. Default: that of " + VARIABLE + ".";

  @Command(
      name = "new",
      description =
          "Adds a random seal key to the file, made if need be, and prints its fingerprint.",
      footer = "  coatcheck types seal-key new --file seal.keys")
  void create(
      @Mixin Output output,
      @Option(names = "--file", paramLabel = "FILE", description = FILE) @Nullable Path file)
      throws CommandFailed {
    Path keys = file(file);
    if (Files.exists(keys)) {
      read(keys); // never adds to what is no file of keys
    }
    byte[] secret = new byte[KEY_BYTES];
    new RandomSource().fill(secret);
    String hex = HexFormat.of().formatHex(secret);
    String fingerprint = SealKey.parse(hex).orElseThrow().fingerprint();
    append(keys, "# %s, made %s\n%s\n".formatted(fingerprint, LocalDate.now(ZoneOffset.UTC), hex));
    output.rows(List.of(row(fingerprint)), "seal_key");
  }

  @Command(
      name = "list",
      description = "Prints the fingerprints of the seal keys in the file.",
      footer = "  coatcheck types seal-key list --file seal.keys")
  void list(
      @Mixin Output output,
      @Option(names = "--file", paramLabel = "FILE", description = FILE) @Nullable Path file)
      throws CommandFailed {
    output.rows(
        read(file(file)).fingerprints().stream().map(SealKeyCommand::row).toList(), "seal_key");
  }

  @Command(
      name = "check",
      description = {
        "Prints which types of the gateway need which seal key, and whether the file has it.",
        "Exits with 1 if the file lacks one."
      },
      footer = "  coatcheck types seal-key check --file seal.keys")
  int check(
      @Mixin GatewayCalls gateway,
      @Mixin Output output,
      @Option(names = "--file", paramLabel = "FILE", description = FILE) @Nullable Path file)
      throws CommandFailed {
    Set<String> present = new HashSet<>(read(file(file)).fingerprints());
    List<JsonNode> rows = new ArrayList<>();
    boolean isMissing = false;
    for (JsonNode type : gateway.get("/v1/types").path("data")) {
      for (JsonNode era : type.path("eras")) {
        String key = era.path("seal_key").asString();
        boolean isClosed = era.path("closed_at").isString();
        isMissing |= !present.contains(key) && !isClosed;
        rows.add(
            Output.object(
                Map.of(
                    "type",
                    type.path("name").asString(),
                    "starts_at",
                    era.path("starts_at").asString(""),
                    "seal_key",
                    key,
                    "file",
                    present.contains(key)
                        ? "has it"
                        : isClosed ? "needs it no more" : "lacks it")));
      }
    }
    output.rows(rows, "type", "starts_at", "seal_key", "file");
    return isMissing ? ExitCode.FAILED.status() : 0;
  }

  private static JsonNode row(String fingerprint) {
    return Output.object(Map.of("seal_key", fingerprint));
  }

  private static Path file(@Nullable Path file) throws Misused {
    if (file != null) {
      return file;
    }
    return Variables.get(VARIABLE)
        .map(Path::of)
        .orElseThrow(
            () ->
                new Misused(
                    "name the file of the seal keys with --file, or set " + VARIABLE + "."));
  }

  private static SealKeys read(Path file) throws CommandFailed {
    return switch (SealKeys.read(file)) {
      case SealKeys.Parsed.Valid(SealKeys keys) -> keys;
      case SealKeys.Parsed.Faulty(String fault) -> throw new CommandFailed(fault);
    };
  }

  /** Returns once the key is on the disk: a type must never need a key that a crash has lost. */
  private static void append(Path file, String text) throws CommandFailed {
    try (FileChannel channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      String begin = endsWithinALine(file) ? "\n" : "";
      ByteBuffer bytes = ByteBuffer.wrap((begin + text).getBytes(StandardCharsets.US_ASCII));
      long before = channel.size();
      try {
        while (bytes.hasRemaining()) {
          int _ = channel.write(bytes);
        }
        channel.force(true);
      } catch (IOException failed) {
        channel.truncate(before); // no gateway starts with half a key
        throw failed;
      }
    } catch (IOException failed) {
      throw new CommandFailed(
          "can't write the seal keys to " + file + ": " + FileWords.why(failed));
    }
  }

  /** As editors and {@code printf} leave files. */
  private static boolean endsWithinALine(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    return bytes.length > 0 && bytes[bytes.length - 1] != '\n';
  }
}
