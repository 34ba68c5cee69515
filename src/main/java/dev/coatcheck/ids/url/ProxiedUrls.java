package dev.coatcheck.ids.url;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.LooseNumber;
import dev.coatcheck.ids.pattern.LooseUuid;
import dev.coatcheck.ids.redirect.LegacyCaller;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.redirect.RedirectOutcome;
import dev.coatcheck.ids.redirect.Redirector;
import dev.coatcheck.ids.registry.Registry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides what a proxy does with the URI of a client without an API key: public IDs are replaced by
 * their keys, and legacy IDs are handled by the policies of their types.
 */
public final class ProxiedUrls {
  private final UrlResolver resolver;
  private final Redirector redirector;
  private final Registry registry;

  public ProxiedUrls(UrlResolver resolver, Redirector redirector, Registry registry) {
    this.resolver = resolver;
    this.redirector = redirector;
    this.registry = registry;
  }

  /**
   * What a proxy asks for.
   *
   * @param redirects whether a client is sent from a URI with legacy IDs to the public one, rather
   *     than served
   * @param refusesBareKeys whether a path must not hold keys themselves
   */
  public record Wish(boolean redirects, boolean refusesBareKeys) {}

  /**
   * Decides.
   *
   * @param uri path and query
   * @param allowed types that the proxy may use
   * @param caller the client, with the API key of the proxy
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public ProxiedOutcome decide(String uri, Wish wish, AllowedTypes allowed, LegacyCaller caller) {
    if (!uri.startsWith("/")) {
      return new ProxiedOutcome.Refused(new UrlOutcome.Invalid("does not start with a slash"));
    }
    UrlResolver.Read read = resolver.read(uri, allowed);
    return switch (read) {
      case UrlResolver.Read.Refused(UrlOutcome.Refused refused) ->
          new ProxiedOutcome.Refused(refused);
      case UrlResolver.Read.Sound(UrlParts url, List<UrlId> ids) -> {
        if (wish.refusesBareKeys() && hasBareKey(url, ids)) {
          yield new ProxiedOutcome.BareKey();
        }
        if (ids.stream().anyMatch(UrlId.MalformedLegacy.class::isInstance)) {
          yield new ProxiedOutcome.Refused(new UrlOutcome.LegacyMalformed());
        }
        List<UrlId.Legacy> numbers =
            ids.stream()
                .filter(UrlId.Legacy.class::isInstance)
                .map(UrlId.Legacy.class::cast)
                .toList();
        yield wish.redirects() && !numbers.isEmpty()
            ? redirect(url, numbers, caller)
            : passOn(read, numbers, caller);
      }
    };
  }

  private ProxiedOutcome redirect(UrlParts url, List<UrlId.Legacy> numbers, LegacyCaller caller) {
    if (numbers.size() > 1) {
      NonBlockingAttempt.leave(); // each is counted before the next one may wait
    }
    List<String> publicIds = new ArrayList<>();
    int maxAgeSeconds = Integer.MAX_VALUE;
    RedirectOutcome.Notice notice = RedirectOutcome.Notice.NONE;
    for (UrlId.Legacy number : numbers) {
      switch (redirector.replace(number.id(), caller)) {
        case RedirectOutcome.Refused refused -> {
          return new ProxiedOutcome.LegacyRefused(refused);
        }
        case RedirectOutcome.To to -> {
          publicIds.add(to.target());
          maxAgeSeconds = Math.min(maxAgeSeconds, to.maxAgeSeconds());
          notice = to.notice().map(notice::and).orElse(notice);
        }
      }
    }
    List<UrlSlice> slices = numbers.stream().map(UrlId.Legacy::slice).toList();
    return new ProxiedOutcome.Redirect(url.with(slices, publicIds), maxAgeSeconds, notice);
  }

  private ProxiedOutcome passOn(
      UrlResolver.Read read, List<UrlId.Legacy> numbers, LegacyCaller caller) {
    RedirectOutcome.Notice notice = RedirectOutcome.Notice.NONE;
    for (UrlId.Legacy number : numbers) {
      OlderId id = number.id();
      Optional<RedirectOutcome.Refused> refusal = redirector.refusal(id);
      if (refusal.isPresent()) {
        return refusal.get() instanceof RedirectOutcome.NotFound
            ? new ProxiedOutcome.Refused(new UrlOutcome.LegacyUnknown())
            : new ProxiedOutcome.LegacyRefused(refusal.get());
      }
      notice = notice.and(Redirector.notice(id.type()));
    }
    return switch (resolver.resolve(read, caller)) {
      case UrlOutcome.LegacyBrownout(LegacyPaused paused) ->
          new ProxiedOutcome.LegacyRefused(paused);
      case UrlOutcome.Resolved resolved -> new ProxiedOutcome.PassOn(resolved, notice);
      case UrlOutcome.Refused refused -> new ProxiedOutcome.Refused(refused);
    };
  }

  /** A number that a URL template contains literally is not a key. */
  private boolean hasBareKey(UrlParts url, List<UrlId> ids) {
    List<LegacyUrlTemplate> templates = UrlId.fitting(url, registry);
    List<UrlSlice> segments = url.segments();
    List<UrlSlice> whole = url.decodedSegments();
    for (int i = 0; i < segments.size(); i++) {
      int at = i;
      UrlSlice segment = segments.get(i);
      boolean isKey = isKey(segment.unicodeText()) || isKey(whole.get(at).unicodeText());
      if (isKey
          && ids.stream().noneMatch(id -> id.slice().equals(segment))
          && templates.stream().noneMatch(template -> template.isLiteralAt(at))) {
        return true;
      }
    }
    return false;
  }

  private static boolean isKey(String text) {
    return LooseNumber.is(text) || LooseUuid.is(text);
  }
}
