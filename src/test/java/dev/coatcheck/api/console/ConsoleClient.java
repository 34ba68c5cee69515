package dev.coatcheck.api.console;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** A browser of the console, as far as HTTP goes: keeps its cookie, and follows no redirects. */
public final class ConsoleClient {
  private static final Pattern TOKEN = Pattern.compile("name=\"form_token\" value=\"([^\"]+)\"");
  private static final HttpClient HTTP =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER).build();

  private final URI base;
  private final Map<String, String> headers = new TreeMap<>();
  private String cookie = "";

  /** A page, or what is answered in its place. */
  public record Page(int status, Map<String, List<String>> headers, String html) {
    public Optional<String> header(String name) {
      return Optional.ofNullable(headers.get(name)).map(List::getFirst);
    }

    /** Where it sends the browser. */
    public String location() {
      return header("location").orElseThrow();
    }

    /** The token of its forms. */
    public String formToken() {
      Matcher found = TOKEN.matcher(html);
      assertThat(found.find()).as(html).isTrue();
      return found.group(1);
    }

    /** The paths of its links. */
    public List<String> links() {
      return Pattern.compile("href=\"([^\"]+)\"")
          .matcher(html)
          .results()
          .map((MatchResult link) -> link.group(1))
          .toList();
    }
  }

  public ConsoleClient(URI base) {
    this.base = base;
    headers.put("Origin", base.getScheme() + "://" + base.getAuthority());
  }

  public static ConsoleClient signedIn(GatewayFixture gateway, String key) {
    return signedIn(gateway.uri(), key);
  }

  public static ConsoleClient signedIn(URI base, String key) {
    ConsoleClient client = new ConsoleClient(base);
    Page answer = client.signIn(key);
    assertThat(answer.status()).as(answer.html()).isEqualTo(303);
    return client;
  }

  /** The same client that also sends this header, instead of one with the same name. */
  public ConsoleClient with(String header, String value) {
    headers.put(header, value);
    return this;
  }

  public ConsoleClient without(String header) {
    headers.remove(header);
    return this;
  }

  public Page signIn(String key) {
    return post("/console/session", Map.of("key", key));
  }

  /** The value of the cookie, or an empty text. */
  public String cookie() {
    return cookie;
  }

  public void setCookie(String value) {
    cookie = value;
  }

  public Page get(String path) {
    return send("GET", path, BodyPublishers.noBody());
  }

  public Page post(String path, Map<String, String> fields) {
    return send("POST", path, BodyPublishers.ofString(form(fields)));
  }

  /** Sends a form whose refusal because of an outage is wanted. */
  public Page postOnce(String path, Map<String, String> fields) {
    return sendOnce("POST", path, BodyPublishers.ofString(form(fields)));
  }

  /** Opens the page of a form, and sends the form with these fields. */
  public Page submit(String path, Map<String, String> fields) {
    Map<String, String> all = new TreeMap<>(fields);
    all.put("form_token", get(path).formToken());
    return post(path, all);
  }

  public static String form(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(field -> encoded(field.getKey()) + "=" + encoded(field.getValue()))
        .collect(joining("&"));
  }

  public static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Sends it again when a busy machine was too late for it. */
  private Page send(String method, String path, HttpRequest.BodyPublisher body) {
    return Awaitility.await(method + " " + path)
        .until(() -> sendOnce(method, path, body), page -> page.status() != 503);
  }

  private Page sendOnce(String method, String path, HttpRequest.BodyPublisher body) {
    HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path)).method(method, body);
    headers.forEach(request::setHeader);
    if (method.equals("POST")) {
      request.setHeader("Content-Type", "application/x-www-form-urlencoded");
    }
    if (!cookie.isEmpty()) {
      request.setHeader("Cookie", "__Host-coatcheck=" + cookie);
    }
    try {
      HttpResponse<String> response = HTTP.send(request.build(), BodyHandlers.ofString());
      Page page = new Page(response.statusCode(), response.headers().map(), response.body());
      page.header("set-cookie")
          .ifPresent(set -> cookie = set.replaceAll("^__Host-coatcheck=([^;]*);.*$", "$1"));
      return page;
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }
}
