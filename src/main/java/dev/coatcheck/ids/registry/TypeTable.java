package dev.coatcheck.ids.registry;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.postgres.sql.schema.tables.records.TypeRecord;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A type as a row of its table. */
final class TypeTable {
  private static final int REDIRECT_STATUS_UNUSED = 302;

  private TypeTable() {}

  static void setPolicies(TypeRecord row, Policies policies) {
    setRedirect(row, policies.redirect());
    setLegacy(row, policies.legacy());
    row.setUrlTemplates(
        policies.urlTemplates().stream().map(LegacyUrlTemplate::toString).toArray(String[]::new));
    row.setPublicPattern(policies.publicPattern().map(PublicPattern::toString).orElse(null));
    row.setOnOutage(policies.outage().onOutage().wireName());
    row.setStaleSecondsMax(policies.outage().staleSecondsMax());
  }

  static Type read(TypeRecord row) {
    return new Type(
        row.getTypeId(),
        row.getName(),
        new Prefix(row.getPrefix()),
        KeyScheme.named(row.getKeyScheme()).orElseThrow(),
        SnowflakeLayout.accepted(row.getKeyLayout()),
        new Salt(row.getSalt()),
        policies(row),
        ClientNames.named(row.getClientNames()).orElseThrow(),
        row.getCreatedAt(),
        row.getUpdatedAt(),
        row.getVersion());
  }

  private static Policies policies(TypeRecord row) {
    return new Policies(
        Optional.ofNullable(row.getRedirectTemplate()).map(template -> redirect(row, template)),
        Optional.ofNullable(row.getLegacyStatus()).map(status -> legacy(row, status)),
        urlTemplates(row.getUrlTemplates()),
        Optional.ofNullable(row.getPublicPattern()).map(PublicPattern::stored),
        new OutagePolicy(
            OnOutage.named(row.getOnOutage()).orElseThrow(), row.getStaleSecondsMax()));
  }

  static List<LegacyUrlTemplate> urlTemplates(String[] stored) {
    return Arrays.stream(stored).map(LegacyUrlTemplate::stored).toList();
  }

  private static void setRedirect(TypeRecord row, Optional<Redirect> redirect) {
    row.setRedirectTemplate(redirect.map(to -> to.template().toString()).orElse(null));
    row.setRedirectStatus(redirect.map(Redirect::status).orElse(REDIRECT_STATUS_UNUSED));
    row.setRedirectMaxAgeSeconds(redirect.map(Redirect::maxAgeSeconds).orElse(0));
    row.setRedirectPublic(redirect.map(Redirect::isPublic).orElse(false));
    row.setRedirectExposeKey(redirect.map(Redirect::exposeKey).orElse(false));
  }

  private static void setLegacy(TypeRecord row, Optional<LegacyPolicy> legacy) {
    row.setLegacyStatus(legacy.map(LegacyPolicy::status).orElse(null));
    row.setLegacyPublic(legacy.map(LegacyPolicy::isPublic).orElse(false));
    row.setLegacyMaxId(legacy.map(LegacyPolicy::maxId).flatMap(TypeTable::boxed).orElse(null));
    row.setLegacyDeprecatedAt(legacy.flatMap(LegacyPolicy::deprecatedAt).orElse(null));
    row.setLegacySunsetAt(legacy.flatMap(LegacyPolicy::sunsetAt).orElse(null));
    row.setLegacyMaxAgeSeconds(legacy.map(LegacyPolicy::maxAgeSeconds).orElse(0));
  }

  private static Redirect redirect(TypeRecord row, String template) {
    return new Redirect(
        RedirectTemplate.stored(template),
        row.getRedirectStatus(),
        row.getRedirectMaxAgeSeconds(),
        row.getRedirectPublic(),
        row.getRedirectExposeKey());
  }

  private static LegacyPolicy legacy(TypeRecord row, int status) {
    return new LegacyPolicy(
        status,
        row.getLegacyPublic(),
        row.getLegacyMaxId() == null ? OptionalLong.empty() : OptionalLong.of(row.getLegacyMaxId()),
        Optional.ofNullable(row.getLegacyDeprecatedAt()),
        Optional.ofNullable(row.getLegacySunsetAt()),
        row.getLegacyMaxAgeSeconds());
  }

  private static Optional<Long> boxed(OptionalLong number) {
    return number.isPresent() ? Optional.of(number.getAsLong()) : Optional.empty();
  }
}
