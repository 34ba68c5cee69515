import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.model.Problem;

/**
 * Makes the calls of a file through the generated client, and prints for each what the client read
 * from the answer, written back as JSON. Arguments: the URL of the gateway, an API key, the file,
 * and the folder of the generated APIs.
 */
public class EveryCall {
  /** Reads files: the generated client takes the text of each answer for JSON. */
  private static final class FileMapper extends ObjectMapper {
    FileMapper(ObjectMapper mapper) {
      super(mapper);
    }

    @Override
    public ObjectMapper copy() {
      return new FileMapper(this);
    }

    @Override
    @SuppressWarnings("unchecked") // the type is that of a file
    public <T> T readValue(String text, TypeReference<T> type) throws JsonProcessingException {
      if (!type.getType().equals(File.class)) {
        return super.readValue(text, type);
      }
      try {
        Path file = Files.createTempFile("answer", null);
        file.toFile().deleteOnExit();
        return (T) Files.writeString(file, text).toFile();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }

  private final List<Object> apis = new ArrayList<>();
  private final ObjectMapper json;

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setObjectMapper(new FileMapper(client.getObjectMapper()));
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
    EveryCall program = new EveryCall(client, args[3]);
    for (JsonNode call : program.json.readTree(new File(args[2]))) {
      System.out.println(program.json.writeValueAsString(program.result(call)));
    }
  }

  EveryCall(ApiClient client, String sources) throws ReflectiveOperationException {
    json = client.getObjectMapper();
    for (String source : new File(sources).list()) {
      Class<?> api =
          Class.forName("org.openapitools.client.api." + source.replaceFirst("[.]java$", ""));
      apis.add(api.getConstructor(ApiClient.class).newInstance(client));
    }
  }

  private ObjectNode result(JsonNode call) throws Exception {
    String operation = call.get("operation").textValue();
    ObjectNode result = json.createObjectNode().put("operation", operation);
    Method method = method(operation);
    try {
      result.set("value", read(method.invoke(api(method), arguments(method, call))));
    } catch (InvocationTargetException thrown) {
      if (!(thrown.getCause() instanceof ApiException refused) || refused.getCode() == 0) {
        throw new IllegalStateException(operation, thrown);
      }
      String body = refused.getResponseBody();
      boolean isEmpty = body == null || body.isEmpty();
      result.set("value", isEmpty ? null : read(json.readValue(body, Problem.class)));
    }
    return result;
  }

  /** The overload with the fewest parameters. */
  private Method method(String operation) {
    return apis.stream()
        .flatMap(api -> Arrays.stream(api.getClass().getMethods()))
        .filter(method -> method.getName().equals(operation))
        .min(Comparator.comparingInt(Method::getParameterCount))
        .orElseThrow(() -> new NoSuchElementException("no method for " + operation));
  }

  private Object api(Method method) {
    return apis.stream().filter(method.getDeclaringClass()::isInstance).findFirst().orElseThrow();
  }

  /** What has no name in the call is the body. */
  private Object[] arguments(Method method, JsonNode call) {
    JsonNode named = call.get("parameters");
    List<Object> arguments = new ArrayList<>();
    for (Parameter parameter : method.getParameters()) {
      String name = parameter.getName().replaceFirst("^_", ""); // a name that Java needs for itself
      JsonNode value = named.has(name) ? named.get(name) : call.get("body");
      arguments.add(
          value.isNull()
              ? null
              : json.convertValue(value, json.constructType(parameter.getParameterizedType())));
    }
    return arguments.toArray();
  }

  private JsonNode read(Object value) throws Exception {
    return value instanceof File file
        ? new TextNode(Files.readString(Path.of(file.getPath())))
        : json.valueToTree(value);
  }
}
