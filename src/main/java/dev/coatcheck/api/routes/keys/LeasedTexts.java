package dev.coatcheck.api.routes.keys;

import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.scheme.LeasedSnos;
import dev.coatcheck.core.scheme.RocketMqId;
import dev.coatcheck.core.scheme.SnoId;
import java.util.List;
import java.util.function.LongFunction;

/** Texts of other systems. Each is a Snowflake key of a layout in another form. */
enum LeasedTexts {
  SNO("sno") {
    @Override
    SnowflakeLayout layout() {
      return LeasedSnos.LAYOUT;
    }

    @Override
    LongFunction<String> form(JsonObject body) {
      int metabyte =
          body.allow("scheme", "count", "at", "metabyte")
              .integer("metabyte", 0, SnoId.METABYTE_MAX, 0);
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
      body.allow("scheme", "count", "at");
      return RocketMqId::of;
    }
  };

  final String scheme;

  LeasedTexts(String scheme) {
    this.scheme = scheme;
  }

  /** The layout of the keys. */
  abstract SnowflakeLayout layout();

  /** Converts a key to the form that the body asks for. */
  abstract LongFunction<String> form(JsonObject body);

  static List<String> texts(KeyOutcome.Drawn drawn, LongFunction<String> form) {
    return drawn.keys().stream().map(key -> form.apply(number(key))).toList();
  }

  private static long number(Key key) {
    return switch (key) {
      case Key.Bigint(long value) -> value;
      case Key.Uuid _ -> throw new IllegalStateException("no key of a Snowflake layout");
    };
  }
}
