package dev.coatcheck.client;

import dev.coatcheck.client.MintResult.Minted;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.ParsedPublicId;
import dev.coatcheck.id.PublicId;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Calls a Coatcheck gateway. One for the whole application; threads share it.
 *
 * <pre>{@code
 * CoatcheckClient client =
 *     CoatcheckClient.builder(URI.create("http://127.0.0.1:8080")).apiKey(key).build();
 * Mapping<Charge> charge = client.mint(Charge.class).mapping();
 * Resolution<Charge> again = client.resolve(Charge.class, "ch_4KIWSf8WvPNoQDBwStVIDYHU");
 * }</pre>
 *
 * <p>The thread of the caller waits for the answer, 10 s at most unless the builder says otherwise;
 * virtual threads are welcome. What may be sent again without harm is sent again within that time:
 * after 429 and 503 when {@code Retry-After} says so, and after a lost answer if a repetition does
 * nothing. A mint without names gets an Idempotency-Key for that, so it is done once.
 *
 * <p>Lists may be of any length: they go in calls of 1,000 items, one after the other, each with
 * the deadline to itself, and the answers come in the order of the items. An empty list is no call.
 *
 * <p>Each method throws a {@link CoatcheckException} if the gateway refuses the call or does not
 * answer in time, an {@link IllegalArgumentException} if a class has no {@link
 * dev.coatcheck.id.PublicIdType}, and an {@link IllegalStateException} if the gateway has no such
 * type, or its prefix is another one. Interrupting the thread ends the call.
 */
public final class CoatcheckClient implements AutoCloseable {
  private static final int KEYS_MAX = 16_384;
  private static final int TEXT_LENGTH_MAX = 255;

  /** Percent-encoded. The head of a request has at most 8 KiB, so a longer URL goes in a body. */
  private static final int URL_IN_HEAD_MAX = 4_096;

  /** Far more than a gateway resolves. A body has 1 MiB, of at most 6 bytes for each character. */
  private static final int URL_IN_BODY_MAX = 100_000;

  private final Transport transport;
  private final TypeNames names;
  private final @Nullable KeptAnswers kept;

  private CoatcheckClient(Transport transport, @Nullable KeptAnswers kept) {
    this.transport = transport;
    this.kept = kept;
    names = new TypeNames(transport);
  }

  /**
   * Begins a client.
   *
   * @param url address of the gateway, {@code http} or {@code https}, without user info, query and
   *     fragment; a path is a prefix of all paths
   * @return a builder with the defaults
   * @throws IllegalArgumentException if the URL is another one
   */
  public static Builder builder(URI url) {
    return new Builder(url);
  }

  /**
   * Mints a new public ID with a new key.
   *
   * @param type a class with {@link dev.coatcheck.id.PublicIdType}, whose type generates keys
   * @param <T> that class
   * @return what was committed
   */
  public <T> Minted<T> mint(Class<T> type) {
    return mint(MintRequest.of(type));
  }

  /**
   * Mints one public ID, or finds it by one of its names.
   *
   * @param request what to mint
   * @param <T> the type
   * @return what is committed
   */
  public <T> Minted<T> mint(MintRequest<T> request) {
    return request.isNamed()
        ? minted(request, posted("/v1/ids", json(request)).repeatable())
        : mint(request, UUID.randomUUID().toString());
  }

  /**
   * Mints one public ID, once for each Idempotency-Key: the same request gets the same answer for
   * 24 hours, from other processes too.
   *
   * @param request what to mint
   * @param idempotencyKey 1 to 255 visible ASCII characters
   * @param <T> the type
   * @return what is committed
   */
  public <T> Minted<T> mint(MintRequest<T> request, String idempotencyKey) {
    return minted(request, posted("/v1/ids", json(request)).withIdempotencyKey(idempotencyKey));
  }

  /**
   * Mints many public IDs. If the first call of 1,000 fails, it throws. If a later one fails, its
   * items and those after them are {@link MintResult.Refused} with its problem, so that what was
   * minted is not lost; with {@link Problem#FAILED} if it was not the gateway that failed.
   *
   * @param requests what to mint
   * @param <T> the type
   * @return one result for each request, in their order
   */
  public <T> List<MintResult<T>> mintAll(List<MintRequest<T>> requests) {
    return mintAllOnce(requests, null);
  }

  /**
   * Mints many public IDs, once for each Idempotency-Key: the same list gets the same answers for
   * 24 hours, those of refused items too, from other processes too. So a list whose answers were
   * lost can be sent again as a whole. Where it needs several calls, each has the key, a slash and
   * its number from 0 on.
   *
   * @param requests what to mint
   * @param idempotencyKey 1 to 200 visible ASCII characters
   * @param <T> the type
   * @return one result for each request, as of {@link #mintAll(List)}
   */
  public <T> List<MintResult<T>> mintAll(List<MintRequest<T>> requests, String idempotencyKey) {
    return mintAllOnce(requests, Objects.requireNonNull(idempotencyKey));
  }

  private <T> List<MintResult<T>> mintAllOnce(
      List<MintRequest<T>> requests, @Nullable String idempotencyKey) {
    return Batches.sparing(
        requests,
        request -> request.clientNamespace().map(Json::isText).orElse(true),
        new MintResult.Refused<T>(
            Problem.ofClient(
                400,
                "field_invalid",
                "The client_namespace contains U+0000 or half a surrogate pair.")),
        some -> mintParts(some, idempotencyKey));
  }

  /**
   * Mints new public IDs with new keys.
   *
   * @param type a class with {@link dev.coatcheck.id.PublicIdType}, whose type generates keys
   * @param count how many, 0 or more
   * @param <T> that class
   * @return one result for each, as of {@link #mintAll(List)}
   */
  public <T> List<MintResult<T>> mintAll(Class<T> type, int count) {
    return mintAll(Collections.nCopies(count, MintRequest.of(type)));
  }

  /**
   * Resolves a public ID to its key.
   *
   * @param id the public ID
   * @param <T> its type
   * @return Found, Merged, Revoked or Unknown
   */
  public <T> Resolution<T> resolve(PublicId<T> id) {
    return known(id, () -> Answers.single(id.type(), id, asked("/v1/ids/" + id, "resolveId")));
  }

  /**
   * Resolves a text from outside, as it came: a public ID, or an older one that the type accepts. A
   * public ID of another type is {@link Resolution.WrongType}, without a call.
   *
   * @param type the type that is expected here
   * @param text any text, of any length
   * @param <T> that type
   * @return Found, Merged, Revoked, Unknown, WrongType or Malformed
   */
  public <T> Resolution<T> resolve(Class<T> type, String text) {
    ParsedPublicId<T> parsed = PublicId.parse(type, text);
    if (parsed instanceof ParsedPublicId.Valid<T> valid) {
      return resolve(valid.id());
    }
    if (parsed instanceof ParsedPublicId.WrongType<T> wrong) {
      return new Resolution.WrongType<>(wrong.expected(), wrong.actual());
    }
    var malformed = (ParsedPublicId.Malformed<T>) parsed;
    var refusal = new Resolution.Malformed<T>(malformed.reason(), malformed.position());
    if (text.isEmpty() || text.length() > TEXT_LENGTH_MAX || isInNoPath(text)) {
      return refusal;
    }
    GatewayAnswer answer = asked("/v1/ids/" + GatewayRequest.segment(text), "resolveId");
    // An API key for some types may not ask for what is of none of them.
    boolean isRefused =
        answer.status() == 400
            || (answer.status() == 403 && Problem.of(answer).code().equals("type_not_allowed"));
    return isRefused ? refusal : Answers.single(type, null, answer);
  }

  /**
   * Resolves many public IDs.
   *
   * @param ids the public IDs
   * @param <T> their type
   * @return one result for each, in their order: Found, Merged, Revoked, Unknown or Refused
   */
  @SuppressWarnings("unchecked") // each answer is about the type of its question
  public <T> List<Resolution<T>> resolveAll(List<PublicId<T>> ids) {
    return (List<Resolution<T>>) (List<?>) resolveEach(List.copyOf(ids));
  }

  /**
   * Looks up the public ID of a key.
   *
   * @param key its type must be a class with {@link dev.coatcheck.id.PublicIdType}
   * @param <T> that class
   * @return Found, Merged, Revoked or Unknown
   */
  public <T> Resolution<T> lookup(Key<T> key) {
    return known(
        key,
        () -> {
          String path = "/v1/types/" + names.of(key.type()) + "/keys/" + key.text();
          return Answers.single(key.type(), null, asked(path, "lookupKey"));
        });
  }

  /**
   * Looks up the public IDs of many keys, such as those of a page of rows.
   *
   * @param keys the keys
   * @param <T> their type
   * @return one result for each, in their order: Found, Merged, Revoked, Unknown or Refused
   */
  @SuppressWarnings("unchecked") // each answer is about the type of its question
  public <T> List<Resolution<T>> lookupAll(List<Key<T>> keys) {
    return (List<Resolution<T>>) (List<?>) lookupEach(List.copyOf(keys));
  }

  /**
   * Finds a public ID by its legacy ID, the number before it had a public ID.
   *
   * @param type the type
   * @param number 1 to 2^63 - 1
   * @param <T> the type
   * @return Found, Merged, Revoked or Unknown
   */
  public <T> Resolution<T> legacy(Class<T> type, long number) {
    String path = "/v1/legacy/" + names.of(type) + "/" + number;
    return Answers.single(type, null, asked(path, "findLegacy"));
  }

  /**
   * Finds many public IDs by their legacy IDs.
   *
   * @param type the type
   * @param numbers 1 to 2^63 - 1 each
   * @param <T> the type
   * @return one result for each, in their order: Found, Merged, Revoked, Unknown or Refused
   */
  public <T> List<Resolution<T>> legacyAll(Class<T> type, List<Long> numbers) {
    return Batches.each(
        numbers,
        part -> {
          List<String> texts = part.stream().map(Object::toString).toList();
          Map<String, Object> json = Map.of("type", names.of(type), "legacy_ids", texts);
          GatewayAnswer answer = query("/v1/legacy/resolve", json, "resolveLegacyBatch");
          return Batches.paired(
              answer, part, (number, entry) -> Answers.entry(type, null, entry, answer));
        });
  }

  /**
   * Finds a public ID by an alias.
   *
   * @param type the type
   * @param alias a legacy ID, a client ID or an older public ID
   * @param <T> the type
   * @return Found, Merged, Revoked or Unknown
   */
  public <T> Resolution<T> lookup(Class<T> type, Alias alias) {
    String path = "/v1/types/" + names.of(type) + alias.path();
    return Answers.single(type, null, asked(path, "lookupAlias"));
  }

  /**
   * Gives a public ID an alias.
   *
   * @param id the public ID
   * @param alias what no other public ID of the type has
   * @return false if it had the alias already; that may be this call's own doing, if it was sent
   *     again after a lost answer
   */
  public boolean addAlias(PublicId<?> id, Alias alias) {
    GatewayRequest request = GatewayRequest.of("PUT", "/v1/ids/" + id + alias.path());
    return transport.send(request, "putAlias").status() == 201;
  }

  /**
   * Takes an alias from a public ID. Nothing happens if it has no such alias.
   *
   * @param id the public ID
   * @param alias its alias
   */
  public void removeAlias(PublicId<?> id, Alias alias) {
    GatewayRequest request = GatewayRequest.of("DELETE", "/v1/ids/" + id + alias.path());
    transport.send(request, "deleteAlias");
  }

  /**
   * Ends a public ID for good. Ended before, it keeps its first reason.
   *
   * @param id the public ID
   * @param reason shown to callers with an API key, 1 to 500 characters, or null for none
   */
  public void revoke(PublicId<?> id, @Nullable String reason) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("reason", reason);
    GatewayRequest request = posted("/v1/ids/" + id + "/revoke", json).repeatable();
    transport.send(request, "revokeId");
    drop(id);
  }

  /**
   * Lets a public ID stand for another one, for good.
   *
   * @param id the public ID that ends
   * @param into the survivor
   * @param <T> the type of both
   */
  public <T> void merge(PublicId<T> id, PublicId<T> into) {
    Map<String, Object> json = Map.of("into", into.toString());
    transport.send(posted("/v1/ids/" + id + "/merge", json).repeatable(), "mergeId");
    drop(id);
  }

  /**
   * Replaces all IDs of a URL by keys.
   *
   * @param url absolute, or path and query; 4,096 characters and 50 IDs at most
   * @return the URL with keys, and the IDs with their types
   */
  public ResolvedUrl resolveUrl(String url) {
    String segment = GatewayRequest.segment(url);
    if (segment.length() > URL_IN_HEAD_MAX || !Json.isText(url)) {
      UrlResult result = resolveUrls(List.of(url)).get(0);
      if (result instanceof UrlResult.Refused refused) {
        throw new CoatcheckException(refused.problem(), null);
      }
      return ((UrlResult.Resolved) result).url();
    }
    GatewayRequest request = GatewayRequest.of("GET", "/v1/urls/resolve?url=" + segment);
    return ResolvedUrl.of(transport.send(request, "resolveUrl").fields());
  }

  /**
   * Replaces all IDs of many URLs by keys.
   *
   * @param urls as for {@link #resolveUrl}
   * @return one result for each, in their order
   */
  public List<UrlResult> resolveUrls(List<String> urls) {
    return Batches.sparing(
        urls,
        url -> Json.isText(url) && url.length() <= URL_IN_BODY_MAX,
        new UrlResult.Refused(
            Problem.ofClient(
                400,
                "url_invalid",
                "The URL has more than 4,096 characters, U+0000 or half a surrogate pair.")),
        some -> Batches.eachOf(Batches.cutBySize(some), this::resolveUrlPart));
  }

  /**
   * Replaces the keys of a URL by public IDs. Mints nothing: a key without a public ID is a problem
   * with the code {@code key_unknown}.
   *
   * @param url absolute, or path and query, 4,096 characters at most
   * @param template its path, with the name of a type in braces for each key, such as {@code
   *     /charges/{charge}}
   * @return the URL with public IDs
   */
  public String publishUrl(String url, String template) {
    Map<String, Object> json = Map.of("url", url, "template", template);
    return query("/v1/urls/publish", json, "publishUrl").fields().required("published");
  }

  /**
   * Makes Snowflakes without public IDs, unique and rising.
   *
   * @param layout such as {@code default}
   * @param count 1 to 16,384
   * @return the keys
   */
  public List<Long> snowflakes(String layout, int count) {
    return keys(Map.of("scheme", "snowflake", "layout", layout), count).stream()
        .map(Long::valueOf)
        .toList();
  }

  /**
   * Makes UUIDs of version 7 without public IDs, rising.
   *
   * @param count 1 to 16,384
   * @return the keys
   */
  public List<UUID> uuids(int count) {
    return keys(Map.of("scheme", "uuidv7"), count).stream().map(UUID::fromString).toList();
  }

  /**
   * Draws dense numbers from a segment.
   *
   * @param tag the name of the segment
   * @param count 1 to 16,384
   * @return the numbers
   */
  public List<Long> numbers(String tag, int count) {
    return keys(Map.of("scheme", "segment", "tag", tag), count).stream()
        .map(Long::valueOf)
        .toList();
  }

  /**
   * Begins to collect questions, which are then asked together.
   *
   * @return an empty collector, for one request of the application
   */
  public Collector collector() {
    return new Collector(this);
  }

  /**
   * Makes any call of the API, with the retries of all calls.
   *
   * @param request the call
   * @return the answer, of any status
   * @throws CoatcheckException if no gateway answers; its status is 0
   */
  public GatewayAnswer call(GatewayRequest request) {
    return transport.exchange(request, "raw");
  }

  /**
   * Opens the body of an answer as a stream, such as an export. Tried once; the deadline is for its
   * begin.
   *
   * @param request the call
   * @return the body, to be closed
   */
  public InputStream open(GatewayRequest request) {
    return transport.open(request);
  }

  /** How the cache does; all zero and not trusted for a client without one. */
  public CacheStatistics cacheStatistics() {
    return kept == null ? new CacheStatistics(0, 0, false) : kept.statistics();
  }

  /** Stops to follow changes, if the client has a cache. Calls go on to work. */
  @Override
  public void close() {
    if (kept != null) {
      kept.close();
    }
  }

  private <T> Resolution<T> known(Object question, Supplier<Resolution<T>> ask) {
    return kept == null ? ask.get() : kept.answer(question, ask);
  }

  private void drop(PublicId<?> ended) {
    if (kept != null) {
      kept.drop(ended);
    }
  }

  List<? extends Resolution<?>> resolveEach(List<? extends PublicId<?>> ids) {
    return kept == null ? resolveParts(ids) : kept.answers(List.copyOf(ids), this::resolveParts);
  }

  private List<? extends Resolution<?>> resolveParts(List<? extends PublicId<?>> ids) {
    return Batches.<PublicId<?>, Resolution<?>>each(
        List.copyOf(ids),
        part -> {
          List<String> texts = part.stream().map(Object::toString).toList();
          GatewayAnswer answer = query("/v1/ids/resolve", Map.of("ids", texts), "resolveBatch");
          return Batches.paired(answer, part, (id, entry) -> resolution(id, entry, answer));
        });
  }

  /** All keys are of one type. */
  List<? extends Resolution<?>> lookupEach(List<? extends Key<?>> keys) {
    return kept == null ? lookupParts(keys) : kept.answers(List.copyOf(keys), this::lookupParts);
  }

  private List<? extends Resolution<?>> lookupParts(List<? extends Key<?>> keys) {
    return Batches.<Key<?>, Resolution<?>>each(
        List.copyOf(keys),
        part -> {
          Class<?> type = part.get(0).type();
          List<String> texts = part.stream().map(Key::text).toList();
          Map<String, Object> json = Map.of("type", names.of(type), "keys", texts);
          GatewayAnswer answer = query("/v1/ids/lookup", json, "lookupBatch");
          return Batches.paired(
              answer, part, (key, entry) -> Answers.entry(type, null, entry, answer));
        });
  }

  private static <T> Resolution<T> resolution(PublicId<T> id, Fields entry, GatewayAnswer answer) {
    return Answers.entry(id.type(), id, entry, answer);
  }

  private <T> Minted<T> minted(MintRequest<T> request, GatewayRequest call) {
    GatewayAnswer answer = transport.send(call, "mintId");
    Fields publicId = answer.fields();
    PublicId<T> id = Answers.id(request.type(), publicId);
    return new Minted<>(Mapping.of(id, publicId), answer.status() == 201);
  }

  private <T> List<MintResult<T>> mintParts(
      List<MintRequest<T>> requests, @Nullable String idempotencyKey) {
    List<MintResult<T>> results = new ArrayList<>(requests.size());
    List<List<MintRequest<T>>> parts = Batches.cut(requests);
    for (int i = 0; i < parts.size(); i++) {
      boolean isNumbered = idempotencyKey != null && parts.size() > 1;
      try {
        results.addAll(
            mintPart(parts.get(i), isNumbered ? idempotencyKey + "/" + i : idempotencyKey));
      } catch (RuntimeException failed) {
        if (results.isEmpty()) {
          throw failed;
        }
        results.addAll(
            Collections.nCopies(
                requests.size() - results.size(), new MintResult.Refused<T>(Problem.of(failed))));
        break;
      }
    }
    return results;
  }

  private <T> List<MintResult<T>> mintPart(
      List<MintRequest<T>> part, @Nullable String idempotencyKey) {
    Map<String, Object> json = Map.of("items", part.stream().map(this::json).toList());
    GatewayRequest request = posted("/v1/ids/batch", json);
    boolean areNamed = part.stream().allMatch(MintRequest::isNamed);
    GatewayRequest once =
        idempotencyKey == null && areNamed
            ? request.repeatable()
            : request.withIdempotencyKey(
                idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey);
    GatewayAnswer answer = transport.send(once, "mintBatch");
    return Batches.paired(answer, part, (asked, entry) -> mintResult(asked.type(), entry, answer));
  }

  private static <T> MintResult<T> mintResult(Class<T> type, Fields entry, GatewayAnswer answer) {
    Optional<Fields> publicId = entry.fields("public_id");
    if (publicId.isEmpty()) {
      return new MintResult.Refused<>(Problem.ofItem(entry, answer));
    }
    PublicId<T> id = Answers.id(type, publicId.get());
    boolean isNew = entry.number("status").orElse(500) == 201;
    return new Minted<>(Mapping.of(id, publicId.get()), isNew);
  }

  private Map<String, @Nullable Object> json(MintRequest<?> request) {
    return request.toJson(names.of(request.type()));
  }

  private List<String> keys(Map<String, Object> scheme, int count) {
    if (count < 1 || count > KEYS_MAX) {
      throw new IllegalArgumentException("count=" + count + " is not in 1.." + KEYS_MAX);
    }
    Map<String, Object> json = new LinkedHashMap<>(scheme);
    json.put("count", (long) count);
    return query("/v1/keys", json, "makeKeys").fields().texts("keys");
  }

  private List<UrlResult> resolveUrlPart(List<String> part) {
    GatewayAnswer answer = query("/v1/urls/resolve", Map.of("urls", part), "resolveUrlBatch");
    return Batches.paired(answer, part, (url, entry) -> urlResult(entry, answer));
  }

  private static UrlResult urlResult(Fields entry, GatewayAnswer answer) {
    return entry
        .fields("resolved_url")
        .<UrlResult>map(url -> new UrlResult.Resolved(ResolvedUrl.of(url)))
        .orElseGet(() -> new UrlResult.Refused(Problem.ofItem(entry, answer)));
  }

  /** The answer to a question, whatever it says. */
  private GatewayAnswer asked(String path, String operation) {
    return transport.exchange(GatewayRequest.of("GET", path), operation);
  }

  /** The answer to a question that takes a body. */
  private GatewayAnswer query(String path, Map<String, ?> json, String operation) {
    return transport.send(posted(path, json).repeatable(), operation);
  }

  private static GatewayRequest posted(String path, Map<String, ? extends @Nullable Object> json) {
    return GatewayRequest.of("POST", path).withBody("application/json", Json.write(json));
  }

  /**
   * Whether it is a segment that no path can have; many proxies refuse a NUL in their own words.
   */
  private static boolean isInNoPath(String text) {
    return text.equals(".") || text.equals("..") || !Json.isText(text);
  }

  /** What a client needs to know. */
  public static final class Builder {
    private final URI url;
    private Supplier<String> apiKey = () -> "";
    private Duration deadline = Duration.ofSeconds(10);
    private Duration connectMax = Duration.ofSeconds(3);
    private int triesMax = Transport.TRIES_MAX;
    private int cachedMax;
    private @Nullable SSLContext tls;
    private @Nullable HttpClient http;
    private CallListener listener = (operation, status, tries, took) -> {};

    private Builder(URI url) {
      boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      boolean isAddress =
          url.getRawUserInfo() == null && url.getRawQuery() == null && url.getRawFragment() == null;
      if (!isHttp || url.getHost() == null || !isAddress) {
        // Its text is not told: user info is a secret.
        throw new IllegalArgumentException(
            "The URL of a gateway is http or https, a host and perhaps a path, such as"
                + " http://127.0.0.1:8080.");
      }
      this.url = URI.create(url.toString().replaceFirst("/+$", ""));
    }

    /**
     * Sets the API key.
     *
     * @param key the whole key
     * @return this
     * @throws IllegalArgumentException if it has a line break, or something else that no key has
     */
    public Builder apiKey(String key) {
      Transport.checked(key);
      return apiKey(() -> key);
    }

    /**
     * Sets where the API key comes from, so that it can be rotated.
     *
     * @param key asked before each try; must not wait
     * @return this
     */
    public Builder apiKey(Supplier<String> key) {
      apiKey = key;
      return this;
    }

    /**
     * Sets how long a call may take, with all its tries and the waits between them.
     *
     * @param duration more than zero; 10 s unless set
     * @return this
     */
    public Builder deadline(Duration duration) {
      if (duration.isZero() || duration.isNegative()) {
        throw new IllegalArgumentException("A deadline is more than zero, not " + duration + ".");
      }
      deadline = duration;
      return this;
    }

    /**
     * Sets how long to wait for a connection.
     *
     * @param duration more than zero; 3 s unless set
     * @return this
     */
    public Builder connectTimeout(Duration duration) {
      connectMax = duration;
      return this;
    }

    /**
     * Sets how often a call is sent at most.
     *
     * @param tries 1 or more, where 1 is no retry; 20 unless set
     * @return this
     */
    public Builder triesMax(int tries) {
      if (tries < 1) {
        throw new IllegalArgumentException("A call is sent once or more, not " + tries + " times.");
      }
      triesMax = tries;
      return this;
    }

    /**
     * Sets whom to trust, for {@code https}.
     *
     * @param context unless set, the JDK's default
     * @return this
     */
    public Builder tls(SSLContext context) {
      tls = context;
      return this;
    }

    /**
     * Sets the HTTP client, with its proxy, its version and its threads; then its TLS and its
     * connect timeout count, too.
     *
     * @param client shared with others, if wanted
     * @return this
     * @throws IllegalArgumentException if it follows redirects, which would show the API key to
     *     another server
     */
    public Builder httpClient(HttpClient client) {
      if (client.followRedirects() != HttpClient.Redirect.NEVER) {
        throw new IllegalArgumentException(
            "The HTTP client follows redirects, and would show the API key to another server.");
      }
      http = client;
      return this;
    }

    /**
     * Keeps answers about public IDs in use, of {@link #resolve(PublicId)}, {@link #resolveAll},
     * {@link #lookup(Key)}, {@link #lookupAll} and collectors, and serves them again for up to 100
     * s. The client follows {@code GET /v1/changes} with one connection and one daemon thread, so
     * nothing is served 2 s after its end; while it can't, each question is a call again. Close
     * such a client.
     *
     * @param answers how many at most, 2 or more; about 300 bytes each
     * @return this
     */
    public Builder cache(int answers) {
      if (answers < 2) {
        throw new IllegalArgumentException("A cache keeps 2 answers or more, not " + answers + ".");
      }
      cachedMax = answers;
      return this;
    }

    /**
     * Sets who hears of calls, such as a {@link MicrometerCalls}.
     *
     * @param calls told at the end of each call
     * @return this
     */
    public Builder listener(CallListener calls) {
      listener = calls;
      return this;
    }

    /**
     * Makes the client. Nothing is sent yet, unless it has a cache.
     *
     * @return a client that need not be closed unless it has a cache
     */
    public CoatcheckClient build() {
      HttpClient client = http == null ? Transport.client(url, connectMax, tls) : http;
      Transport transport = new Transport(url, apiKey, client, deadline, triesMax, listener);
      if (cachedMax == 0) {
        return new CoatcheckClient(transport, null);
      }
      FollowedChanges changes = new FollowedChanges(transport);
      changes.start();
      return new CoatcheckClient(transport, new KeptAnswers(changes, cachedMax));
    }
  }
}
