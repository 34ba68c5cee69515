package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.Misused;
import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A file of types: an object {@code types}, with the body of a put for each name. It is read
 * strictly, and all its problems are told at once.
 *
 * @param types in the order of the file
 */
record TypesFile(List<Declared> types) {
  private static final String TYPES = "types";

  /**
   * A type of the file.
   *
   * @param body of the put that makes it so, with its salt
   * @param definition what the body says
   */
  record Declared(String name, ObjectNode body, TypeDefinition definition) {}

  TypesFile {
    types = List.copyOf(types);
  }

  /**
   * Reads a file, or standard input for {@code -}.
   *
   * @param environment the variables that it may refer to
   * @throws Misused with all its problems
   */
  static TypesFile read(Path file, UnaryOperator<@Nullable String> environment) throws Misused {
    return parse(file, text(file), environment);
  }

  /** The same without its salts, for what needs none. */
  static TypesFile readWithoutSalts(Path file) throws Misused {
    return parse(file, text(file), null);
  }

  private static String text(Path file) throws Misused {
    try {
      return InputFile.textOrStandardInput(file);
    } catch (IOException unreadable) {
      throw new Misused("can't read " + file + ": " + FileWords.why(unreadable));
    }
  }

  private static TypesFile parse(
      Path file, String text, @Nullable UnaryOperator<@Nullable String> environment)
      throws Misused {
    FileProblems problems =
        new FileProblems(InputFile.isDash(file) ? "standard input" : file.toString());
    YamlObject yaml = YamlObject.read(text, problems);
    Path folder = file.toAbsolutePath().getParent();
    List<Declared> types = new ArrayList<>();
    for (Map.Entry<String, JsonNode> field : yaml.json().properties()) {
      if (!field.getKey().equals(TYPES)) {
        problems.add(yaml.line(field.getKey()), field.getKey() + ": The only field here is types.");
      }
    }
    if (yaml.json().path(TYPES) instanceof ObjectNode declared) {
      for (Map.Entry<String, JsonNode> type : declared.properties()) {
        Reader reader = new Reader(type.getKey(), yaml, problems);
        if (type.getValue() instanceof ObjectNode body) {
          reader.readSalt(body, folder == null ? Path.of("") : folder, environment);
          TypeDefinition definition = reader.read(body);
          if (definition != null) {
            types.add(new Declared(type.getKey(), body, definition));
          }
        } else {
          reader.add("", "This must be an object with the fields of a type.");
        }
      }
    } else if (problems.areNone()) {
      problems.add(yaml.line(TYPES), "types: This must be an object, with a type for each name.");
    }
    problems.throwIfAny();
    return new TypesFile(types);
  }

  /** The fields of one type. */
  private static final class Reader {
    private final String name;
    private final YamlObject yaml;
    private final FileProblems problems;

    Reader(String name, YamlObject yaml, FileProblems problems) {
      this.name = name;
      this.yaml = yaml;
      this.problems = problems;
    }

    void add(String field, String problem) {
      String path = field.isEmpty() ? name : name + "." + field;
      problems.add(yaml.line(TYPES + "." + path), path + ": " + problem);
    }

    void readSalt(
        ObjectNode body, Path folder, @Nullable UnaryOperator<@Nullable String> environment) {
      if (environment == null) {
        if (body.path(SaltReference.RULE) instanceof ObjectNode rule) {
          rule.remove(SaltReference.SALT);
        }
        return;
      }
      String problem = SaltReference.resolve(body, folder, environment);
      if (problem != null) {
        add(SaltReference.FIELD, problem);
      }
    }

    /**
     * The definition; null if the type is refused. To find all problems, it is read again without
     * the field that is at fault, until nothing new is found.
     */
    @Nullable TypeDefinition read(ObjectNode body) {
      if (!Type.isName(name)) {
        add("", "A type's name is a lower-case letter, then up to 62 of a-z, 0-9 and _.");
        return null;
      }
      ObjectNode rest = body.deepCopy();
      Set<String> found = new HashSet<>();
      while (true) {
        try {
          TypeDefinition definition = TypeDiff.BODIES.definition(name, JsonObject.of(rest));
          return found.isEmpty() ? definition : null;
        } catch (JsonFault fault) {
          String field = fault.field().replaceFirst("\\[.*", "");
          if (!found.add(field)) {
            return null;
          }
          add(fault.field(), fault.detail());
          if (!takeOut(rest, field)) {
            return null;
          }
        }
      }
    }

    /** Takes a field out, or gives it a sound value where it is required; false if it is none. */
    private static boolean takeOut(ObjectNode body, String field) {
      if (field.equals("prefix")) {
        body.put(field, "x");
        return true;
      }
      int dot = field.lastIndexOf('.');
      return (dot < 0 ? body : body.at("/" + field.substring(0, dot).replace('.', '/')))
              instanceof ObjectNode holder
          && holder.remove(field.substring(dot + 1)) != null;
    }
  }
}
