package dev.coatcheck.app.cli.types;

import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.schema.JsonSchema;

/** Writes YAML that {@link YamlObject} reads: equal objects give equal texts. */
final class YamlText {
  private static final DumpSettings SETTINGS =
      DumpSettings.builder()
          .setSchema(new JsonSchema())
          .setDefaultFlowStyle(FlowStyle.BLOCK)
          .setDereferenceAliases(true)
          .setUseUnicodeEncoding(true)
          .setIndicatorIndent(2)
          .setIndentWithIndicator(true)
          .setSplitLines(false)
          .build();

  private YamlText() {}

  /** Of maps, lists, texts, numbers, truth values and null. */
  static String of(Object value) {
    return new Dump(SETTINGS).dumpToString(value);
  }
}
