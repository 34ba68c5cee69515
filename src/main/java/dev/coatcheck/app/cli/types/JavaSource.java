package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.Misused;
import java.util.Set;

/** The types of a file as a Java class, for the library coatcheck-id. */
final class JavaSource {
  static final String CLASS = "PublicIdTypes";

  /** Within the class, these names are those of others. */
  private static final Set<String> TAKEN = Set.of(CLASS, "PublicIdType", "String");

  private JavaSource() {}

  static String of(TypesFile file, String packageName) throws Misused {
    SourceNames.requireDistinct(file, TAKEN);
    StringBuilder source =
        new StringBuilder(
            """
            package %s;

            import dev.coatcheck.id.PublicIdType;

            /**
             * The types of public IDs. Made by {@code coatcheck types generate java}: change the file
             * of types, not this one.
             *
             * <p>A class of the application is bound to a type by {@code @PublicIdType(prefix =
             * PublicIdTypes.Charge.PREFIX)}. Where there is none, {@code PublicId<PublicIdTypes.Charge>}
             * does.
             */
            public final class %s {
              private %2$s() {}
            """
                .formatted(packageName, CLASS));
    for (TypesFile.Declared type : file.types()) {
      source.append(
          """

            /** %s: {@code %s_…}.%s */
            @PublicIdType(prefix = %s.PREFIX, name = %4$s.NAME)
            public static final class %4$s {
              /** The prefix of its public IDs. */
              public static final String PREFIX = "%2$s";

              /** What the gateway calls it. */
              public static final String NAME = "%1$s";

              private %4$s() {}
            }
          """
              .formatted(
                  type.name(),
                  type.definition().prefix().value(),
                  type.definition().retired() ? " Retired: it gets no new public IDs." : "",
                  SourceNames.pascal(type.name())));
    }
    return source.append("}\n").toString();
  }
}
