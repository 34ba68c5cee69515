package dev.coatcheck.api.server;

import static java.util.stream.Collectors.groupingBy;

import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The routes that take a JSON object, and the forms of the console. Each body is read only after
 * its route was found here.
 */
public final class JsonRoutes {
  private final Map<String, List<Route>> fixed;
  private final List<Route> varying;

  /**
   * @param routes of which at most one matches a request
   */
  JsonRoutes(List<Route> routes) {
    this.fixed = routes.stream().filter(route -> !route.varies()).collect(groupingBy(Route::path));
    this.varying = routes.stream().filter(Route::varies).toList();
  }

  public static JsonRoutes none() {
    return new JsonRoutes(List.of());
  }

  /**
   * A route that takes a JSON object or a form.
   *
   * @param path in Javalin's syntax, with {@code {name}} for a parameter
   * @param needed empty if the route needs no API key
   * @param mediaTypes of its body
   */
  public record Route(
      HandlerType method,
      String path,
      Optional<Scope> needed,
      int bytesMax,
      Set<String> mediaTypes,
      Pattern pattern) {
    private static final Pattern VARIABLE = Pattern.compile("\\{[^}]+}");

    /** Of no request: for a body that is only dropped. */
    public static final Route NONE = new Route(HandlerType.POST, "", Optional.empty(), 0, Set.of());

    Route(HandlerType method, String path, Scope needed, int bytesMax, Set<String> mediaTypes) {
      this(method, path, Optional.of(needed), bytesMax, mediaTypes);
    }

    Route(
        HandlerType method,
        String path,
        Optional<Scope> needed,
        int bytesMax,
        Set<String> mediaTypes) {
      this(
          method,
          path,
          needed,
          bytesMax,
          mediaTypes,
          Pattern.compile(VARIABLE.matcher(path).replaceAll("[^/]+")));
    }

    public Permits.Share share() {
      return needed.map(Permits.Share::of).orElse(Permits.Share.OTHERS);
    }

    /** Whether a person sends it from a page, and reads the answer. */
    public boolean isForm() {
      return mediaTypes.equals(RequestBody.FORM);
    }

    private boolean varies() {
      return VARIABLE.matcher(path).find();
    }
  }

  /** The route of a request; empty if it takes no body or doesn't exist. */
  public Optional<Route> find(String method, String path) {
    // Most requests are for a fixed path, which needs no pattern.
    return first(fixed.getOrDefault(path, List.of()).stream(), method)
        .or(() -> first(varying.stream().filter(r -> r.pattern().matcher(path).matches()), method));
  }

  private static Optional<Route> first(Stream<Route> routes, String method) {
    return routes.filter(route -> route.method().name().equals(method)).findFirst();
  }
}
