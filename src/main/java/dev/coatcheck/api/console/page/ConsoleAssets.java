package dev.coatcheck.api.console.page;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.StaticFile;
import dev.coatcheck.core.id.Sha256;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Serves the files that the console's pages load, to anyone: they tell nothing. Each has the hash
 * of its content in its name, so that browsers keep it until it changes. All are loaded when the
 * first one is named or requested, on another thread: whether this blocks depends on what follows.
 */
public final class ConsoleAssets extends Handler.Wrapper {
  private static final String START = "/console/assets/";
  private static final int HASH_BYTES = 6;

  private final Executor requestThreads;

  public ConsoleAssets(Handler next, Executor requestThreads) {
    super(next);
    this.requestThreads = requestThreads;
  }

  /** The files, loaded once. */
  private static final class Loaded {
    static final Map<String, String> PATHS = new LinkedHashMap<>();
    static final Map<String, StaticFile> FILES = new LinkedHashMap<>();

    static {
      add("console.css", "/console/console.css", "text/css; charset=utf-8");
      add("console.js", "/console/console.js", "text/javascript; charset=utf-8");
      add("favicon.svg", "/docs/favicon.svg", "image/svg+xml");
    }

    private Loaded() {}

    private static void add(String name, String resource, String contentType) {
      byte[] bytes = StaticFile.bytes(resource);
      String hash = HexFormat.of().formatHex(Sha256.start().digest(bytes), 0, HASH_BYTES);
      int end = name.lastIndexOf('.');
      String path = START + name.substring(0, end) + "-" + hash + name.substring(end);
      PATHS.put(name, path);
      FILES.put(path, StaticFile.kept(contentType, bytes));
    }
  }

  /** The path of a file, with the hash of its content. */
  public static String path(String name) {
    return Objects.requireNonNull(Loaded.PATHS.get(name), name);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    String path = request.getHttpURI().getPath();
    if (!path.startsWith(START)) {
      return super.handle(request, response, callback);
    }
    requestThreads.execute(() -> send(path, request, response, callback));
    return true;
  }

  private static void send(String path, Request request, Response response, Callback callback) {
    try {
      StaticFile file = Loaded.FILES.get(path);
      if (file == null) {
        Answer.of(Problem.noSuchPath()).send(request, response, callback);
      } else if (request.getMethod().equals("GET") || request.getMethod().equals("HEAD")) {
        file.send(request, response, callback);
      } else {
        Answer.of(Problem.wrongMethod())
            .with(HttpHeader.ALLOW.asString(), "GET, HEAD")
            .send(request, response, callback);
      }
    } catch (RuntimeException | Error failed) {
      callback.failed(failed);
    }
  }
}
