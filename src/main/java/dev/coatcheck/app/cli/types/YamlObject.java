package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.Misused;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.schema.JsonSchema;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A YAML document that is an object, as JSON, with the lines of its fields. Values are what JSON
 * has; so {@code no} and {@code 2026-01-31} are texts.
 *
 * @param lines from 1, by the paths of fields: {@code types.charge.url_templates[2]}
 */
record YamlObject(ObjectNode json, Map<String, Integer> lines) {
  /** Aliases of YAML can make a short text endless. */
  private static final int NODES_MAX = 100_000;

  private static final LoadSettings SETTINGS =
      LoadSettings.builder()
          .setSchema(new JsonSchema())
          .setMaxAliasesForCollections(NODES_MAX)
          .build();

  private static final JsonMapper JSON = new JsonMapper();

  /**
   * @param problems gets those of single fields; such a field is left out
   * @throws Misused if it is no YAML, or no object
   */
  static YamlObject read(String text, FileProblems problems) throws Misused {
    Reader reader = new Reader(problems);
    try {
      Optional<Node> root = new Compose(SETTINGS).composeString(text);
      if (root.isPresent() && reader.json("", root.get()) instanceof ObjectNode object) {
        return new YamlObject(object, reader.lines);
      }
      problems.add(1, "This must be an object with the field types.");
    } catch (MarkedYamlEngineException malformed) {
      problems.add(
          malformed.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1),
          "This is not YAML: " + malformed.getProblem() + ".");
    } catch (YamlEngineException malformed) {
      problems.add(1, "This is not YAML: " + malformed.getMessage());
    }
    problems.throwIfAny();
    throw new IllegalStateException("no problem");
  }

  /** The line of the field, or of what holds it. */
  int line(String path) {
    for (String at = path; !at.isEmpty(); at = at.substring(0, Math.max(0, cut(at)))) {
      Integer line = lines.get(at);
      if (line != null) {
        return line;
      }
    }
    return 1;
  }

  private static int cut(String path) {
    return Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
  }

  private static final class Reader {
    private final FileProblems problems;
    private final Map<String, Integer> lines = new HashMap<>();
    private final Deque<Node> open = new ArrayDeque<>();
    private int nodes;

    Reader(FileProblems problems) {
      this.problems = problems;
    }

    /** The value of a node; null if it is refused. */
    @Nullable JsonNode json(String path, Node node) {
      lines.putIfAbsent(path, line(node));
      if (++nodes > NODES_MAX || open.contains(node)) {
        throw new YamlEngineException("its aliases make it too large.");
      }
      open.push(node);
      try {
        return switch (node) {
          case MappingNode mapping -> object(path, mapping);
          case SequenceNode sequence -> array(path, sequence);
          case ScalarNode scalar -> value(path, scalar);
          default -> refused(node, path, "This refers to nothing.");
        };
      } finally {
        open.pop();
      }
    }

    private ObjectNode object(String path, MappingNode mapping) {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      for (NodeTuple field : mapping.getValue()) {
        Node key = field.getKeyNode();
        if (!(key instanceof ScalarNode name) || !name.getTag().equals(Tag.STR)) {
          JsonNode _ = refused(key, path, "The name of a field must be a text. Put it in quotes.");
          continue;
        }
        String at = path.isEmpty() ? name.getValue() : path + "." + name.getValue();
        if (object.has(name.getValue())) {
          JsonNode _ =
              refused(key, at, "This field is there already, in line " + lines.get(at) + ".");
          continue;
        }
        lines.put(at, line(key));
        JsonNode value = json(at, field.getValueNode());
        if (value != null) {
          object.set(name.getValue(), value);
        }
      }
      return object;
    }

    private ArrayNode array(String path, SequenceNode sequence) {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      int index = 0;
      for (Node item : sequence.getValue()) {
        JsonNode value = json(path + "[" + index++ + "]", item);
        if (value != null) {
          array.add(value);
        }
      }
      return array;
    }

    private @Nullable JsonNode value(String path, ScalarNode scalar) {
      Tag tag = scalar.getTag();
      String text = scalar.getValue();
      if (tag.equals(Tag.STR)) {
        return JsonNodeFactory.instance.stringNode(text);
      }
      if (tag.equals(Tag.NULL)) {
        return JsonNodeFactory.instance.nullNode();
      }
      if (tag.equals(Tag.BOOL)) {
        return JsonNodeFactory.instance.booleanNode(Boolean.parseBoolean(text));
      }
      if (tag.equals(Tag.INT) || tag.equals(Tag.FLOAT)) {
        try {
          return JSON.readTree(text);
        } catch (JacksonException notOfJson) {
          return refused(scalar, path, "This is no number of JSON. Put it in quotes.");
        }
      }
      return refused(scalar, path, "A value has no tag here, and no ${…}. Put it in quotes.");
    }

    private @Nullable JsonNode refused(Node node, String path, String problem) {
      problems.add(line(node), path.replaceFirst("^types[.]", "") + ": " + problem);
      return null;
    }

    private static int line(Node node) {
      return node.getStartMark().map(Mark::getLine).orElse(0) + 1;
    }
  }
}
