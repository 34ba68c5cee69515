package dev.coatcheck.app.cli.types;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.app.client.Misused;
import dev.coatcheck.id.PublicIdType;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Source text of a file of types. */
class GeneratedSourceTest {
  private static final String TYPES =
      """
      types:
        charge:
          prefix: ch
          key: bigint
          public_rule: {scheme: hashids, salt: {env: NOT_NEEDED_HERE}}
        line_item: {prefix: li_x, key: uuid}
        class: {prefix: cls, key: uuid}
        object: {prefix: obj, key: uuid}
        old_message: {prefix: msg, key: bigint, retired: true}
      """;

  @TempDir Path folder;

  private TypesFile read(String text) throws Misused, IOException {
    return TypesFile.readWithoutSalts(Files.writeString(folder.resolve("types.yaml"), text));
  }

  /** Compiled against coatcheck-id as the program has it. */
  @Test
  void theJavaClassCompilesForJava17AndBindsEachTypeToItsPrefix() throws Exception {
    Path source =
        Files.createDirectories(folder.resolve("com/example")).resolve("PublicIdTypes.java");
    Files.writeString(source, JavaSource.of(read(TYPES), "com.example"));
    Path use =
        Files.writeString(
            folder.resolve("com/example/Use.java"),
            """
            package com.example;

            import dev.coatcheck.id.PublicId;
            import dev.coatcheck.id.PublicIdType;

            @PublicIdType(prefix = PublicIdTypes.Charge.PREFIX, name = PublicIdTypes.Charge.NAME)
            record Use(PublicId<Use> id, PublicId<PublicIdTypes.LineItem> item) {}
            """);
    Path classes = Files.createDirectories(folder.resolve("classes"));
    int status =
        requireNonNull(ToolProvider.getSystemJavaCompiler())
            .run(
                null,
                null,
                null,
                "--release=17",
                "-Xlint:all,-processing,-classfile,-options",
                "-Werror",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                source.toString(),
                use.toString());

    assertThat(status).isZero();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      for (List<String> type :
          List.of(
              List.of("Charge", "ch", "charge"),
              List.of("LineItem", "li_x", "line_item"),
              List.of("Class", "cls", "class"),
              List.of("OldMessage", "msg", "old_message"))) {
        PublicIdType bound =
            requireNonNull(
                loader
                    .loadClass("com.example.PublicIdTypes$" + type.getFirst())
                    .getAnnotation(PublicIdType.class));
        assertThat(List.of(bound.prefix(), bound.name())).isEqualTo(type.subList(1, 3));
      }
    }
    assertThat(Files.readString(source))
        .contains("/** old_message: {@code msg_…}. Retired: it gets no new public IDs. */");
  }

  @Test
  void theTypeScriptModuleIsTheSameEachTime() throws Exception {
    String module = TypeScriptSource.of(read(TYPES));

    assertThat(module)
        .isEqualTo(TypeScriptSource.of(read(TYPES)))
        .startsWith("// The types of public IDs. Made by `coatcheck types generate typescript`")
        .contains(
            """
            import { type PublicId, publicIdType } from '@coatcheck/client';

            /** Public IDs of the type `charge`: `ch_…`. */
            export type ChargeId = PublicId<'charge'>;
            export const chargeType = publicIdType('charge', 'ch');

            /** Public IDs of the type `line_item`: `li_x_…`. */
            export type LineItemId = PublicId<'line_item'>;
            export const lineItemType = publicIdType('line_item', 'li_x');
            """);
  }

  @Test
  void typesThatWouldHaveOneNameAreRefused() throws Exception {
    TypesFile twins = read("types: {a_b: {prefix: a, key: uuid}, a__b: {prefix: b, key: uuid}}");
    TypesFile taken = read("types: {public_id: {prefix: a, key: uuid}}");

    assertThatThrownBy(() -> JavaSource.of(twins, "com.example"))
        .isInstanceOf(Misused.class)
        .hasMessageContaining("a_b", "a__b", "AB");
    assertThatThrownBy(() -> TypeScriptSource.of(taken)).isInstanceOf(Misused.class);
    assertThat(JavaSource.of(taken, "com.example")).contains("class PublicId {");
  }
}
