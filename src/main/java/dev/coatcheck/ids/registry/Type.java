package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.ids.pattern.PublicRule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A registered resource type.
 *
 * @param number its number in the database, which rows store instead of the name
 * @param sealing of its keys from a moment on; empty if each public ID has a row
 * @param retiredAt since when nothing mints its public IDs; empty: in use
 * @param version goes up by one with every change
 */
public record Type(
    int number,
    String name,
    Prefix prefix,
    KeyKind keyKind,
    KeyGeneration generation,
    Salt salt,
    Policies policies,
    ClientNames clientNames,
    Optional<Sealing> sealing,
    Optional<Instant> retiredAt,
    Instant createdAt,
    Instant updatedAt,
    int version) {
  /** Within which all instances know of a retirement. */
  private static final Duration SPREAD = Duration.ofSeconds(2);

  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  public Optional<Redirect> redirect() {
    return policies.redirect();
  }

  public Optional<LegacyPolicy> legacy() {
    return policies.legacy();
  }

  /** Whether a link of the type may lead to another host than the operator lists. */
  public boolean leadsBeyond(RedirectHosts hosts) {
    return redirect().filter(redirect -> !redirect.template().isAllowed(hosts)).isPresent()
        || !deadLink().within(hosts).equals(deadLink());
  }

  public DeadLink deadLink() {
    return policies.deadLink();
  }

  public List<LegacyUrlTemplate> urlTemplates() {
    return policies.urlTemplates();
  }

  public Optional<OlderSystem> olderSystem() {
    return policies.olderSystem();
  }

  /** The older public IDs that have a row each. */
  public Optional<PublicPattern> publicPattern() {
    return olderSystem().filter(PublicPattern.class::isInstance).map(PublicPattern.class::cast);
  }

  /** The older public IDs that a rule decodes. */
  public Optional<PublicRule> publicRule() {
    return olderSystem().filter(PublicRule.class::isInstance).map(PublicRule.class::cast);
  }

  public OutagePolicy outage() {
    return policies.outage();
  }

  /** Whether the text can name a type: a lower-case letter, then up to 62 of {@code a-z0-9_}. */
  public static boolean isName(String text) {
    return NAME.matcher(text).matches();
  }

  /** Where the keys that the gateway makes for this type carry their time, if they do. */
  public Optional<KeyTimes> keyTimes() {
    return generation instanceof KeyTimes times ? Optional.of(times) : Optional.empty();
  }

  /** The sealing, if it is what gives the key its public ID. */
  public Optional<Sealing> sealingOf(Key key) {
    return sealing.filter(seal -> key instanceof Key.Bigint(long value) && seal.seals(value));
  }

  /** Whether the key is of a closed era: its public ID may be a pinned one. */
  public boolean isOfClosedEra(Key key) {
    return sealing
        .filter(seal -> key instanceof Key.Bigint(long value) && seal.isOfClosedEra(value))
        .isPresent();
  }

  public boolean isSealed(Token token) {
    return sealing
        .filter(sealing -> sealing.open(token) instanceof Sealing.Opened.OfKey)
        .isPresent();
  }

  /** Whether an era gives the token to a key, even if the era is closed. */
  public boolean isSealedInAnyEra(Token token) {
    return isSealed(token) || sealing.flatMap(own -> own.closedEraOf(token)).isPresent();
  }

  /** Whether nothing mints public IDs of this type any more; those that it has keep working. */
  public boolean isRetired() {
    return retiredAt.isPresent();
  }

  /**
   * Whether a key of a retired type was made before its retirement, as far as the key tells: only
   * sealed keys do, and they have no row that could tell instead.
   */
  public boolean isSealedBeforeRetirement(Key key) {
    return retiredAt.isPresent()
        && key instanceof Key.Bigint(long value)
        && sealingOf(key)
            .filter(seal -> !seal.timeOf(value).isAfter(retiredAt.get().plus(SPREAD)))
            .isPresent();
  }

  /** Whether each mint of this type has to bring a key. */
  public boolean needsKeys() {
    return generation instanceof KeyGeneration.None;
  }
}
