package dev.coatcheck.ids.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.older.Alphabet;
import dev.coatcheck.core.older.TextShape;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rows of types are written by one version and read by the next one. */
class StoredTypeTest {
  @Test
  void aTypeIsReadAsAnEarlierVersionWroteIt() {
    TestDatabase database = TestDatabase.fresh();
    database
        .sql()
        .execute(
            """
            insert into coatcheck.type
              (name, prefix, key_kind, generate, layout, tag, salt, client_names, policies)
            values
              ('order', 'ord', 'bigint', 'snowflake', '41/10/12@1735689600000', null,
               decode(repeat('ab', 16), 'hex'), 'required',
               '{"redirect":{"template":"https://shop.example/{id}?k={key}","status":308,
                             "max_age_seconds":60,"public":true,"expose_key":true},
                 "legacy":{"status":301,"public":true,"max_id":"1000",
                           "deprecated_at":"2026-01-01T00:00:00Z",
                           "sunset_at":"2027-01-01T00:00:00Z","max_age_seconds":3600},
                 "dead_link":{"default_language":"en","title":{"en":"Gone"},"text":{"en":"For good."},
                              "of_a_later_version":1},
                 "url_templates":["/orders/{legacy:order}","/{*}/{legacy:order}"],
                 "public_pattern":{"text_prefix":"ord-","alphabet":"0123456789","min_length":1,
                                   "max_length":20},
                 "on_outage":"refuse","stale_seconds_max":7}'),
              ('user', 'usr', 'uuid', 'uuidv7', null, null, decode(repeat('cd', 16), 'hex'), 'shared',
               '{"of_a_later_version":{"more":true},"legacy":null}')
            """);
    try (Database opened = Database.open(database.settings(2), "test", new Observer())) {
      List<Type> types = new TypeStore(opened, SealKeys.NONE).all();

      assertThat(types).extracting(Type::name).containsExactly("order", "user");
      Type order = types.getFirst();
      assertThat(order.prefix()).isEqualTo(new Prefix("ord"));
      assertThat(order.keyKind()).isEqualTo(KeyKind.BIGINT);
      assertThat(order.generation())
          .isEqualTo(new KeyTimes.Snowflakes(SnowflakeLayout.accepted("41/10/12@1735689600000")));
      assertThat(order.clientNames()).isEqualTo(ClientNames.REQUIRED);
      assertThat(order.redirect())
          .contains(
              new Redirect(
                  redirectTemplate("https://shop.example/{id}?k={key}"), 308, 60, true, true));
      assertThat(order.legacy())
          .contains(
              new LegacyPolicy(
                  301,
                  true,
                  OptionalLong.of(1_000),
                  Optional.of(Instant.parse("2026-01-01T00:00:00Z")),
                  Optional.of(Instant.parse("2027-01-01T00:00:00Z")),
                  3_600,
                  Optional.empty(),
                  List.of(),
                  Set.of()));
      assertThat(order.urlTemplates())
          .containsExactly(
              urlTemplate("/orders/{legacy:order}"), urlTemplate("/{*}/{legacy:order}"));
      assertThat(order.olderSystem())
          .contains(new PublicPattern(new TextShape("ord-", new Alphabet("0123456789"), 1, 20)));
      assertThat(order.outage()).isEqualTo(new OutagePolicy(OnOutage.REFUSE, 7));
      assertThat(order.deadLink())
          .isEqualTo(
              new DeadLink.Texts("en", Map.of("en", new DeadLink.Text("Gone", "For good."))));
      Type user = types.getLast();
      assertThat(user.keyKind()).isEqualTo(KeyKind.UUID);
      assertThat(user.generation()).isEqualTo(new KeyTimes.UuidsV7());
      assertThat(user.clientNames()).isEqualTo(ClientNames.SHARED);
      assertThat(user.policies()).isEqualTo(Policies.DEFAULT);
    }
  }

  private static RedirectTemplate redirectTemplate(String text) {
    return ((RedirectTemplate.Parsed.Accepted) RedirectTemplate.parse(text, RedirectHosts.any()))
        .template();
  }

  private static LegacyUrlTemplate urlTemplate(String text) {
    return ((LegacyUrlTemplate.Parsed.Accepted) LegacyUrlTemplate.parse(text)).template();
  }
}
