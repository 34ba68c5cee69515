package dev.coatcheck.ids.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.older.Alphabet;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.ids.pattern.TextShape;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
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
              (name, prefix, key_kind, generate, layout, salt,
               redirect_template, redirect_status, redirect_max_age_seconds,
               redirect_public, redirect_expose_key,
               legacy_status, legacy_public, legacy_max_id, legacy_deprecated_at,
               legacy_sunset_at, legacy_max_age_seconds,
               public_scheme, public_text_prefix, public_alphabet, public_min_length,
               public_max_length, on_outage, stale_seconds_max, client_names, url_templates)
            values
              ('order', 'ord', 'bigint', 'snowflake', '41/10/12@1735689600000', decode(repeat('ab', 16), 'hex'),
               'https://shop.example/{id}?k={key}', 308, 60, true, true,
               301, true, 1000, '2026-01-01Z', '2027-01-01Z', 3600,
               'pattern', 'ord-', '0123456789', 1, 20, 'refuse', 7, 'required',
               array['/orders/{legacy:order}', '/{*}/{legacy:order}']),
              ('user', 'usr', 'uuid', 'uuidv7', null, decode(repeat('cd', 16), 'hex'),
               null, 302, 0, false, false,
               null, false, null, null, null, 0,
               null, default, default, default, default, 'serve_stale', 60, 'shared', default)
            """);
    try (Database opened = Database.open(database.settings(2), "test", new Observer())) {
      List<Type> types = new TypeStore(opened).all();

      assertThat(types).extracting(Type::name).containsExactly("order", "user");
      Type order = types.getFirst();
      assertThat(order.prefix()).isEqualTo(new Prefix("ord"));
      assertThat(order.keyKind()).isEqualTo(KeyKind.BIGINT);
      assertThat(order.generation())
          .isEqualTo(new KeyTimes.Snowflakes(SnowflakeLayout.accepted("41/10/12@1735689600000")));
      assertThat(order.clientNames()).isEqualTo(ClientNames.REQUIRED);
      assertThat(order.policies())
          .isEqualTo(
              new Policies(
                  Optional.of(
                      new Redirect(
                          RedirectTemplate.stored("https://shop.example/{id}?k={key}"),
                          308,
                          60,
                          true,
                          true)),
                  Optional.of(
                      new LegacyPolicy(
                          301,
                          true,
                          OptionalLong.of(1_000),
                          Optional.of(Instant.parse("2026-01-01T00:00:00Z")),
                          Optional.of(Instant.parse("2027-01-01T00:00:00Z")),
                          3_600)),
                  List.of(
                      LegacyUrlTemplate.stored("/orders/{legacy:order}"),
                      LegacyUrlTemplate.stored("/{*}/{legacy:order}")),
                  Optional.of(
                      new PublicPattern(new TextShape("ord-", new Alphabet("0123456789"), 1, 20))),
                  new OutagePolicy(OnOutage.REFUSE, 7)));
      Type user = types.getLast();
      assertThat(user.keyKind()).isEqualTo(KeyKind.UUID);
      assertThat(user.generation()).isEqualTo(new KeyTimes.UuidsV7());
      assertThat(user.clientNames()).isEqualTo(ClientNames.SHARED);
      assertThat(user.policies()).isEqualTo(Policies.DEFAULT);
    }
  }
}
