package dev.coatcheck.api.server;

/**
 * The routes that ask for no API key. Each says what bounds the memory and the threads that a
 * stranger can take with it, however many connections there are and however slowly they read.
 */
public enum OpenRoute {
  REDIRECT("/r/{id}", Bound.PERMITS),
  LEGACY("/legacy/{type}/{n}", Bound.PERMITS),
  LIVE("/health/live", Bound.SMALL_ANSWER),
  READY("/health/ready", Bound.SMALL_ANSWER),
  /** Open on the management port only. */
  METRICS("/metrics", Bound.PERMITS),
  CONTRACT("/openapi.yaml", Bound.SHARED_BUFFER),
  DOCS("/docs", Bound.SHARED_BUFFER),
  DOCS_ERRORS("/docs/errors", Bound.SHARED_BUFFER),
  DOCS_ASSET("/docs/assets/{file}", Bound.SHARED_BUFFER);

  /** What keeps a route within bounds. */
  public enum Bound {
    /** As many requests at a time as there are permits, with small answers. */
    PERMITS,
    /**
     * An answer of some hundred bytes, which waits for nothing, even when all permits are taken.
     */
    SMALL_ANSWER,
    /** All answers are slices of one buffer, and no thread sends them. */
    SHARED_BUFFER
  }

  private final String path;
  private final Bound bound;

  OpenRoute(String path, Bound bound) {
    this.path = path;
    this.bound = bound;
  }

  public String path() {
    return path;
  }

  public Bound bound() {
    return bound;
  }
}
