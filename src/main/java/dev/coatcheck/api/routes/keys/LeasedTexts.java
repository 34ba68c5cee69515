package dev.coatcheck.api.routes.keys;

import dev.coatcheck.api.exchange.JsonObject;
import dev.coatcheck.cluster.lease.KeyGenerators;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.scheme.LeasedSnos;
import dev.coatcheck.core.scheme.RocketMqId;
import dev.coatcheck.core.scheme.SnoId;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongFunction;

/** Texts of other systems, each of which is a key of a leased worker in another form. */
enum LeasedTexts {
  SNO("sno") {
    @Override
    SnowflakeLayout layout() {
      return LeasedSnos.LAYOUT;
    }

    @Override
    LongFunction<String> form(JsonObject body) {
      int metabyte =
          body.allow("scheme", "count", "metabyte").integer("metabyte", 0, SnoId.METABYTE_MAX, 0);
      return key -> LeasedSnos.of(key, metabyte).toString();
    }
  },
  ROCKETMQ("rocketmq") {
    @Override
    SnowflakeLayout layout() {
      return RocketMqId.LAYOUT;
    }

    @Override
    LongFunction<String> form(JsonObject body) {
      body.allow("scheme", "count");
      return RocketMqId::of;
    }
  };

  final String scheme;

  LeasedTexts(String scheme) {
    this.scheme = scheme;
  }

  /** Whose keys are taken. */
  abstract SnowflakeLayout layout();

  /** What becomes of a key, as the body asks for it. */
  abstract LongFunction<String> form(JsonObject body);

  /** A draw of keys, and what writes them down. */
  record Draw(KeyDraw keys, Function<KeyDraw.Drawn, List<String>> texts) {}

  Draw draw(JsonObject body, KeyGenerators leased) {
    LongFunction<String> form = form(body);
    int count = body.integer("count", 1, KeyGenerator.COUNT_MAX);
    return new Draw(
        leased.of(KeyScheme.SNOWFLAKE, layout()).next(count),
        drawn -> drawn.keys().stream().map(key -> form.apply(number(key))).toList());
  }

  private static long number(Key key) {
    return switch (key) {
      case Key.Bigint(long value) -> value;
      case Key.Uuid _ -> throw new IllegalStateException("no key of a Snowflake layout");
    };
  }
}
