package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.Misused;
import java.util.Set;

/** The types of a file as a TypeScript module, for the package @coatcheck/client. */
final class TypeScriptSource {
  /** {@code publicIdType} and {@code PublicId} are imported. */
  private static final Set<String> TAKEN = Set.of("PublicId", "Public");

  private static final String HEAD =
      """
      // The types of public IDs. Made by `coatcheck types generate typescript`: change the file of types, not
      // this one.
      import { type PublicId, publicIdType } from '@coatcheck/client';
      """;

  private TypeScriptSource() {}

  static String of(TypesFile file) throws Misused {
    SourceNames.requireDistinct(file, TAKEN);
    StringBuilder source = new StringBuilder(HEAD);
    for (TypesFile.Declared type : file.types()) {
      source.append(
          """

          /** Public IDs of the type `%s`: `%s_…`.%s */
          export type %sId = PublicId<'%1$s'>;
          export const %sType = publicIdType('%1$s', '%2$s');
          """
              .formatted(
                  type.name(),
                  type.definition().prefix().value(),
                  type.definition().retired() ? " Retired: it gets no new public IDs." : "",
                  SourceNames.pascal(type.name()),
                  SourceNames.camel(type.name())));
    }
    return source.toString();
  }
}
