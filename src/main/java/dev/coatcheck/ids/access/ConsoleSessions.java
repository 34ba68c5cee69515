package dev.coatcheck.ids.access;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.postgres.sql.Database;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Sessions of the console. A person signs in with an API key, and may do what the key may, for
 * eight hours and as long as the key is valid. Any instance knows every session. The browser alone
 * has a session's token; Postgres has its hash.
 */
public final class ConsoleSessions {
  /** How long a session lasts. */
  public static final Duration LIFETIME = Duration.ofHours(8);

  /** Sessions of one API key; a further sign-in ends the oldest one. */
  static final int OF_KEY_MAX = 100;

  private static final int TOKEN_BYTES = 32;
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9_-]{43}");

  private final ConsoleSessionStore store;
  private final Access access;
  private final RandomSource random;

  public ConsoleSessions(Database database, Access access, RandomSource random) {
    this.store = new ConsoleSessionStore(database);
    this.access = access;
    this.random = random;
  }

  /** A session, and who has it as of now. */
  public record Session(Token token, Caller caller) {}

  /** Who holds the API key, if the text is one that is valid now. */
  public Optional<Caller> holder(String key) {
    return access.holder(key);
  }

  /**
   * Begins a session with a new token.
   *
   * @param by for the audit; it has the ID of the caller's API key
   */
  public Token begin(Caller caller, Actor by) {
    byte[] bytes = new byte[TOKEN_BYTES];
    random.fill(bytes);
    Token token = new Token(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
    store.insert(token.hash(), caller.keyId(), by);
    return token;
  }

  /** The session of a token; empty if it is over, or if its API key is not valid now. */
  public Optional<Session> find(String token) {
    if (!TOKEN.matcher(token).matches()) {
      return Optional.empty();
    }
    Token known = new Token(token);
    return store
        .keyId(known.hash())
        .flatMap(access::holderOf)
        .map(caller -> new Session(known, caller));
  }

  /**
   * The sessions of these tokens that are not over, each with who has it as of now, by one
   * statement for all of them.
   */
  public Map<Token, Caller> alive(Set<Token> tokens) {
    Map<ByteBuffer, String> keys = store.keyIds(tokens.stream().map(Token::hash).toList());
    Map<Token, Caller> alive = new HashMap<>();
    for (Token token : tokens) {
      Optional.ofNullable(keys.get(ByteBuffer.wrap(token.hash())))
          .flatMap(access::holderOf)
          .ifPresent(caller -> alive.put(token, caller));
    }
    return alive;
  }

  /** Ends a session. Ending it again does nothing. */
  public void end(Session session, Actor by) {
    store.delete(session.token().hash(), session.caller().keyId(), by);
  }

  /** The secret of a session. */
  public record Token(String text) {
    /** What each form of the session's pages carries. It tells nothing about the token. */
    public String formToken() {
      return Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of("form", text));
    }

    /**
     * The ID of the API key that one form of this session creates, so that it creates no second
     * one, on whichever instance.
     *
     * @param form tells the forms of a session apart
     */
    public String keyId(String form) {
      return ApiKey.idFrom(Sha256.of("key", text, form));
    }

    byte[] hash() {
      return Sha256.of("session", text);
    }

    /** Without the secret, so that a token in a log line does no harm. */
    @Override
    public String toString() {
      return "Token[…]";
    }
  }
}
