package dev.coatcheck.app.boot;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Every setting. Its environment variable and its flag have the same name: {@code COATCHECK_PORT}
 * and {@code --port}. A flag overrides the variable. Passwords have no flags, because every user of
 * the machine can read the flags of a process.
 */
public enum Setting {
  HOST("127.0.0.1", "Address to listen on; 0.0.0.0 for all."),
  PORT("8080", "Port of the gateway; 0 for any free one."),
  PUBLIC_PORT(null, "A second port, with /r, /legacy and health only, for the internet."),
  MANAGEMENT_PORT(null, "Port for health and metrics without a key; unset: metrics need a key."),
  CONSOLE(
      "on",
      "Console at /console: off, read-only or on; on the management port, or without one only while"
          + " the address is loopback."),
  CONNECTIONS_MAX(
      "10000", "Connections of clients at a time, 100 to 100000; at the limit idle ones end."),
  TLS_CERTIFICATE_FILE(
      null, "PEM file of the TLS certificate and those that lead to its root; unset: plain HTTP."),
  TLS_KEY_FILE(null, "PEM file of its private key: PKCS#8, RSA or EC, not encrypted."),
  LIMIT_KEY(
      null,
      "Quota of an API key without one of its own, requests/seconds, as 1000/1; unset: none."),
  LIMIT_ADDRESS(
      null,
      "Quota of an address for requests without a valid API key, public links among them; unset:"
          + " none."),
  HOME(".coatcheck", "Folder of the embedded Postgres and the development key."),
  DATABASE_URL(null, "Postgres 15 to 18, as jdbc:postgresql://host/name; unset: embedded."),
  DATABASE_USER(null, "User of that database."),
  DATABASE_PASSWORD(null, "Password of that user."),
  DATABASE_PASSWORD_FILE(null, "File that holds the password, instead of the password."),
  MIGRATE(
      "true",
      "Whether a start applies the migrations of the schema, true or false; with false its user"
          + " need not own the schema."),
  DATABASE_CONNECTIONS("10", "Connections in the pool, 2 to 100."),
  DATABASE_REPLICA_URL(
      null,
      "A streaming replica of that database, as jdbc:postgresql://host/name, that is read before"
          + " it; unset: none."),
  DATABASE_REPLICA_CONNECTIONS("5", "Connections to the replica, 1 to 100."),
  SEAL_KEYS_FILE(
      null, "File with the seal keys of sealed types, mode 0600: coatcheck types seal-key new."),
  LEASE_WINDOW_SECONDS(
      "3", "Seconds that keys can be minted through an outage, 2 to 60; alike on all instances."),
  WORKERS(
      null,
      "Snowflake workers that this instance may lease, as default=0-499,wide-sequence=0-99; unset:"
          + " any."),
  REGION(
      null,
      "Place of this instance in the layout regional, as REGION/DATACENTRE, each 0 to 7: its"
          + " workers are leased within the place."),
  REDIRECT_HOSTS(null, "Comma list of hosts that redirects may lead to; unset: any over https."),
  TRUSTED_PROXIES(null, "Comma list of proxies or networks whose X-Forwarded-For is believed."),
  SELECTORS(null, "Threads that read requests, 1 to 64; unset: one for every two cores."),
  RESOLVE_GROUPS(
      null,
      "Statements that read uncached public IDs at a time, and as many for API keys and for"
          + " aliases; unset: 3 for every 10 connections in the pool."),
  MINT_GROUPS(
      null,
      "Transactions of single mints at a time; unset: 4 for every 10 connections in the pool."),
  CACHE_ENTRIES(
      "100000", "Resolved public IDs kept in memory, about 320 bytes each, and as many aliases."),
  ACCESS_ON_OUTAGE(
      "serve_stale", "API keys while Postgres doesn't answer: serve_stale (for 60 s) or refuse.");

  private static final String START = "COATCHECK_";

  private final Optional<String> otherwise;
  private final String description;

  Setting(@Nullable String otherwise, String description) {
    this.otherwise = Optional.ofNullable(otherwise);
    this.description = description;
  }

  /** The environment variable, {@code COATCHECK_PORT}. */
  public String variable() {
    return START + name();
  }

  /** The flag, {@code --port}, or {@code --no-migrate} where it only turns the setting off. */
  public String flag() {
    return (isTurnedOff() ? "--no-" : "--") + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether the flag has no value, and stands for {@code false}. */
  public boolean isTurnedOff() {
    return this == MIGRATE;
  }

  /** Whether the value is a secret, which the command line refuses. */
  public boolean isSecret() {
    return this == DATABASE_PASSWORD;
  }

  public String description() {
    return description;
  }

  /** The default; empty if there is none. */
  public Optional<String> otherwise() {
    return otherwise;
  }
}
