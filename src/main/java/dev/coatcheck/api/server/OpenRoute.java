package dev.coatcheck.api.server;

/**
 * The routes without an API key. Each states what bounds the memory and the threads that its
 * clients can take, however many connections they open and however slowly they read.
 */
public enum OpenRoute {
  HOME("/", Bound.SHARED_BUFFER),
  REDIRECT("/r/{id}", Bound.PERMITS),
  LEGACY("/legacy/{type}/{n}", Bound.PERMITS),
  /** By POST, with the leaked keys in its body. */
  REVOKE_LEAKED("/v1/access/keys/revoke-leaked", Bound.PERMITS),
  LIVE("/health/live", Bound.SMALL_ANSWER),
  READY("/health/ready", Bound.SMALL_ANSWER),
  /** Without an API key on the management port only. */
  METRICS("/metrics", Bound.PERMITS),
  CONTRACT("/openapi.yaml", Bound.SHARED_BUFFER),
  DOCS("/docs", Bound.SHARED_BUFFER),
  DOCS_ERRORS("/docs/errors", Bound.SHARED_BUFFER),
  DOCS_ASSET("/docs/assets/{file}", Bound.SHARED_BUFFER),
  FAVICON("/favicon.svg", Bound.SHARED_BUFFER),
  FAVICON_ICO("/favicon.ico", Bound.SHARED_BUFFER);

  public enum Bound {
    /** Small answers, and as many requests at a time as there are permits. */
    PERMITS,
    /** A few hundred bytes that wait for nothing, even when all permits are taken. */
    SMALL_ANSWER,
    /** Answers are slices of one shared buffer, and no thread sends them. */
    SHARED_BUFFER
  }

  private final String path;
  private final Bound bound;
  private final String start;

  OpenRoute(String path, Bound bound) {
    this.path = path;
    this.bound = bound;
    this.start = path.split("\\{", 2)[0];
  }

  /** Whether browsers get pages at a path where other clients get JSON. */
  static boolean hasPages(String path) {
    return path.startsWith(REDIRECT.start)
        || path.startsWith(LEGACY.start)
        || path.equals(HOME.path);
  }

  public String path() {
    return path;
  }

  /** The path before its first parameter. */
  public String start() {
    return start;
  }

  public Bound bound() {
    return bound;
  }
}
