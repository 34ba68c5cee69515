package dev.coatcheck.ids.registry;

import static dev.coatcheck.postgres.sql.schema.Tables.SEGMENT;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.currentOffsetDateTime;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.sum;

import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import dev.coatcheck.ids.pattern.TextShape;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.schema.tables.records.TypeRecord;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jooq.DSLContext;

/** All SQL about types. */
final class TypeStore {
  private final Database database;

  TypeStore(Database database) {
    this.database = database;
  }

  /**
   * Differs whenever a type was created or changed, and after one was deleted by hand and another
   * created: numbers of types are never given again.
   */
  record Revision(int lastNumber, long versions) {
    static final Revision NONE = new Revision(0, 0);
  }

  Revision revision() {
    return database.read(
        "registry revision",
        sql ->
            sql.select(coalesce(max(TYPE.TYPE_ID), 0), coalesce(sum(TYPE.VERSION), BigDecimal.ZERO))
                .from(TYPE)
                .fetchSingle(row -> new Revision(row.value1(), row.value2().longValueExact())));
  }

  List<Type> all() {
    return database.read("registry load", TypeStore::all);
  }

  private static List<Type> all(DSLContext sql) {
    return sql.selectFrom(TYPE).orderBy(TYPE.NAME).fetch(TypeTable::read);
  }

  PutOutcome put(TypeDefinition definition, Salt salt, OptionalInt expectedVersion) {
    return database.write(
        "type put",
        sql -> {
          lock(sql);
          List<Type> all = all(sql);
          Optional<Type> present = named(all, definition.name());
          int version = present.map(Type::version).orElse(0);
          if (expectedVersion.isPresent() && version != expectedVersion.getAsInt()) {
            return new PutOutcome.VersionDiffers(version);
          }
          return refusal(all, definition)
              .or(() -> overlap(all, definition))
              .orElseGet(
                  () ->
                      present.isPresent()
                          ? update(sql, present.get(), definition)
                          : create(sql, all, definition, salt));
        });
  }

  /**
   * Serializes all changes of types, so that each sees the URL templates and older public IDs of
   * all others.
   */
  private static void lock(DSLContext sql) {
    sql.execute("lock table {0} in share row exclusive mode", TYPE);
  }

  private static Optional<Type> named(List<Type> all, String name) {
    return all.stream().filter(type -> type.name().equals(name)).findFirst();
  }

  /**
   * Why the URL templates of the type contradict each other or those of other types; empty if they
   * don't.
   */
  private static Optional<PutOutcome> refusal(List<Type> all, TypeDefinition definition) {
    List<LegacyUrlTemplate> templates = definition.policies().urlTemplates();
    SortedMap<String, List<LegacyUrlTemplate>> byType = new TreeMap<>();
    all.forEach(type -> byType.put(type.name(), type.urlTemplates()));
    byType.put(definition.name(), templates);
    for (int i = 0; i < templates.size(); i++) {
      if (!byType.keySet().containsAll(templates.get(i).typeNames())) {
        return Optional.of(
            new PutOutcome.Refused(
                "url_template_refused",
                Policies.urlTemplateAt(i),
                "The URL template names a type that is not registered. Register that type first."));
      }
      for (Map.Entry<String, List<LegacyUrlTemplate>> type : byType.entrySet()) {
        for (LegacyUrlTemplate other : type.getValue()) {
          if (templates.get(i).contradicts(other)) {
            return Optional.of(
                new PutOutcome.Refused(
                    "url_template_conflict",
                    Policies.urlTemplateAt(i),
                    "The same path can fit this URL template and "
                        + (type.getKey().equals(definition.name())
                            ? "another URL template of this type"
                            : other + " of the type " + type.getKey())
                        + ", and a number in it would be two different legacy IDs. Change one of"
                        + " them."));
          }
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Refuses a definition some of whose public IDs could as well belong to another type: the type of
   * a public ID, ours or an older system's, is recognized by its text alone.
   */
  private static Optional<PutOutcome> overlap(List<Type> all, TypeDefinition definition) {
    TextShape ours = TextShape.ofOurs(definition.prefix());
    Optional<OlderSystem> declared = definition.policies().olderSystem();
    Optional<TextShape> older = declared.map(OlderSystem::shape);
    if (older.filter(ours::overlaps).isPresent()) {
      return Optional.of(olderOverlap(declared.get(), "a public ID of this type itself"));
    }
    for (Type other : all) {
      if (other.name().equals(definition.name())) {
        continue;
      }
      TextShape theirs = TextShape.ofOurs(other.prefix());
      Optional<TextShape> olderThere = other.olderSystem().map(OlderSystem::shape);
      if (older.isPresent()
          && (older.get().overlaps(theirs)
              || olderThere.stream().anyMatch(older.get()::overlaps))) {
        return Optional.of(olderOverlap(declared.get(), "a public ID of the type " + other.name()));
      }
      if (olderThere.filter(ours::overlaps).isPresent()) {
        return Optional.of(
            new PutOutcome.Refused(
                "public_ids_overlap",
                "prefix",
                "With this prefix some public ID could be an older public ID of the type "
                    + other.name()
                    + ". Choose another prefix."));
      }
    }
    return Optional.empty();
  }

  private static PutOutcome olderOverlap(OlderSystem declared, String other) {
    return new PutOutcome.Refused(
        "public_ids_overlap",
        declared.field(),
        "Some text could be an older public ID of this type and "
            + other
            + ". Declare a text_prefix that only these older public IDs have, or lengths or an"
            + " alphabet that tell them apart.");
  }

  private static PutOutcome create(
      DSLContext sql, List<Type> all, TypeDefinition definition, Salt salt) {
    if (all.stream().anyMatch(type -> type.prefix().equals(definition.prefix()))) {
      return new PutOutcome.Refused("prefix_taken", "prefix", "Choose another prefix.");
    }
    if (definition.generation() instanceof KeyGeneration.Segment(String tag)
        && !sql.fetchExists(SEGMENT, SEGMENT.TAG.eq(tag))) {
      return new PutOutcome.Refused(
          "key_generation_refused",
          "tag",
          "No segment has this tag. Create the segment with PUT /v1/segments/{tag} first.");
    }
    TypeRecord row = sql.newRecord(TYPE);
    row.setName(definition.name());
    row.setPrefix(definition.prefix().value());
    TypeTable.setKeys(row, definition.keyKind(), definition.generation());
    row.setSalt(salt.bytes());
    TypeTable.setPolicies(row, definition.policies());
    row.setClientNames(definition.clientNames().orElse(ClientNames.DEFAULT).wireName());
    Type created = sql.insertInto(TYPE).set(row).returning().fetchSingle(TypeTable::read);
    tell(sql, created);
    return new PutOutcome.Created(created);
  }

  private static PutOutcome update(DSLContext sql, Type present, TypeDefinition definition) {
    Optional<String> fixed = fixedDifference(present, definition);
    if (fixed.isPresent()) {
      return new PutOutcome.Refused(
          "immutable_field",
          fixed.get(),
          "This field can't be changed. Send its registered value, or create another type.");
    }
    ClientNames clientNames = definition.clientNames().orElse(present.clientNames());
    if (present.policies().equals(definition.policies()) && present.clientNames() == clientNames) {
      return new PutOutcome.Updated(present);
    }
    TypeRecord row = sql.newRecord(TYPE);
    TypeTable.setPolicies(row, definition.policies());
    row.setClientNames(clientNames.wireName());
    Type updated =
        sql.update(TYPE)
            .set(row)
            .set(TYPE.VERSION, TYPE.VERSION.plus(1))
            .set(TYPE.UPDATED_AT, currentOffsetDateTime().coerce(TYPE.UPDATED_AT))
            .where(TYPE.TYPE_ID.eq(present.number()))
            .returning()
            .fetchSingle(TypeTable::read);
    tell(sql, updated);
    return new PutOutcome.Updated(updated);
  }

  /** The first immutable field that differs. */
  private static Optional<String> fixedDifference(Type present, TypeDefinition definition) {
    KeyGeneration generation = definition.generation();
    if (!present.prefix().equals(definition.prefix())) {
      return Optional.of("prefix");
    }
    if (present.keyKind() != definition.keyKind()) {
      return Optional.of("key");
    }
    if (!present.generation().wireName().equals(generation.wireName())) {
      return Optional.of("generate");
    }
    return present.generation().equals(generation)
        ? Optional.empty()
        : Optional.of(generation instanceof KeyGeneration.Segment ? "tag" : "layout");
  }

  /** Tells all instances. The last statement of the transaction. */
  private static void tell(DSLContext sql, Type changed) {
    ChangeTable.append(sql, ChangeKind.TYPE, List.of(Integer.toString(changed.number())));
  }
}
