package dev.coatcheck.app.cli.types;

import dev.coatcheck.core.file.InputFile;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Where the salt of a {@code public_rule} is: {@code {env: NAME}} or {@code {file: PATH}}. The salt
 * itself is never in a file of types, and no verb prints it.
 */
final class SaltReference {
  static final String RULE = "public_rule";
  static final String SALT = "salt";

  /** The dotted name of the field. */
  static final String FIELD = RULE + "." + SALT;

  private static final String ENV = "env";
  private static final String FILE = "file";
  private static final String WANTED =
      "Say where the salt is, {env: NAME} or {file: PATH}. The salt itself stays out of the file.";

  private SaltReference() {}

  /**
   * Puts the salt in the place of the reference to it.
   *
   * @param type the body of a put, which this changes
   * @param folder that paths start from
   * @param environment the variables by their names
   * @return what is wrong; null if nothing is
   */
  static @Nullable String resolve(
      ObjectNode type, Path folder, UnaryOperator<@Nullable String> environment) {
    if (!(type.path(RULE) instanceof ObjectNode rule) || !rule.has(SALT)) {
      return null;
    }
    JsonNode reference = rule.remove(SALT);
    if (!reference.isObject() || reference.size() != 1) {
      return WANTED;
    }
    String env = reference.path(ENV).asString("");
    String file = reference.path(FILE).asString("");
    if (env.isEmpty() == file.isEmpty()) {
      return WANTED;
    }
    try {
      String salt =
          env.isEmpty()
              ? InputFile.textOrStandardInput(folder.resolve(file)).replaceFirst("\\R\\z", "")
              : environment.apply(env);
      if (salt == null || salt.isEmpty()) {
        return (env.isEmpty()
                ? "The file " + file + " is empty"
                : "The variable " + env + " is not set")
            + ". It holds the salt.";
      }
      rule.put(SALT, salt);
      return null;
    } catch (IOException | InvalidPathException unreadable) {
      return "The file " + file + " with the salt can't be read.";
    }
  }

  /** The reference that an export gives to the salt of a type. */
  static Map<String, String> exported(String type) {
    return Map.of(ENV, variable(type));
  }

  /** The variable that an export names. */
  static String variable(String type) {
    return "COATCHECK_SALT_" + type.toUpperCase(Locale.ROOT);
  }
}
