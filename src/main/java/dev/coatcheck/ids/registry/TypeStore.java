package dev.coatcheck.ids.registry;

import static dev.coatcheck.postgres.sql.schema.Tables.SEGMENT;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.currentOffsetDateTime;
import static org.jooq.impl.DSL.sum;

import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.cluster.grant.SegmentDefinition;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import dev.coatcheck.ids.pattern.TextShape;
import dev.coatcheck.ids.registry.PutOutcome.PublicIdsOverlap.Side;
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

  /** Differs whenever any type was created or changed: types are never deleted. */
  record Revision(int types, long versions) {
    static final Revision NONE = new Revision(0, 0);
  }

  Revision revision() {
    return database.read(
        "registry revision",
        sql ->
            sql.select(count(), coalesce(sum(TYPE.VERSION), BigDecimal.ZERO))
                .from(TYPE)
                .fetchSingle(row -> new Revision(row.value1(), row.value2().longValueExact())));
  }

  List<Type> all() {
    return database.read(
        "registry load", sql -> sql.selectFrom(TYPE).orderBy(TYPE.NAME).fetch(TypeTable::read));
  }

  /** The unique constraints settle a race with an instance of another version. */
  PutOutcome put(TypeDefinition definition, Salt salt, OptionalInt expectedVersion) {
    return database.write(
        "type put",
        sql -> {
          lock(sql);
          Optional<Type> present = locked(sql, definition.name());
          if (expectedVersion.isPresent()
              && present.map(Type::version).orElse(0) != expectedVersion.getAsInt()) {
            return new PutOutcome.VersionDiffers(present.map(Type::version).orElse(0));
          }
          Optional<PutOutcome> refusal =
              refusal(sql, definition).or(() -> overlap(sql, definition));
          if (refusal.isPresent()) {
            return refusal.get();
          }
          return present.isPresent()
              ? update(sql, present.get(), definition)
              : create(sql, definition, salt, expectedVersion);
        });
  }

  /**
   * Types are put one after the other, so that none misses the URL templates and the older public
   * IDs of another one. Before the lock of a row: a put with that row would wait for this lock in
   * turn.
   */
  private static void lock(DSLContext sql) {
    sql.execute("lock table {0} in share row exclusive mode", TYPE);
  }

  /** Why the URL templates of the type can't stand beside those of all types, its own included. */
  private static Optional<PutOutcome> refusal(DSLContext sql, TypeDefinition definition) {
    List<LegacyUrlTemplate> templates = definition.policies().urlTemplates();
    if (templates.isEmpty()) {
      return Optional.empty();
    }
    SortedMap<String, List<LegacyUrlTemplate>> byType = templates(sql);
    byType.put(definition.name(), templates);
    for (int i = 0; i < templates.size(); i++) {
      if (!byType.keySet().containsAll(templates.get(i).typeNames())) {
        return Optional.of(new PutOutcome.TemplateTypeUnknown(i));
      }
      for (Map.Entry<String, List<LegacyUrlTemplate>> type : byType.entrySet()) {
        for (LegacyUrlTemplate other : type.getValue()) {
          if (templates.get(i).contradicts(other)) {
            return Optional.of(new PutOutcome.TemplatesContradict(i, type.getKey(), other));
          }
        }
      }
    }
    return Optional.empty();
  }

  private static SortedMap<String, List<LegacyUrlTemplate>> templates(DSLContext sql) {
    SortedMap<String, List<LegacyUrlTemplate>> byType = new TreeMap<>();
    sql.select(TYPE.NAME, TYPE.URL_TEMPLATES)
        .from(TYPE)
        .forEach(row -> byType.put(row.value1(), TypeTable.urlTemplates(row.value2())));
    return byType;
  }

  /**
   * The first type that could have a public ID of the definition's as well: public IDs of ours and
   * of older systems are all told by their texts alone.
   */
  private static Optional<PutOutcome> overlap(DSLContext sql, TypeDefinition definition) {
    TextShape ours = TextShape.ofOurs(definition.prefix());
    Optional<TextShape> older = definition.policies().olderSystem().map(OlderSystem::shape);
    if (older.filter(ours::overlaps).isPresent()) {
      return Optional.of(new PutOutcome.PublicIdsOverlap(Side.OLDER_SYSTEM, definition.name()));
    }
    for (TypeRecord other :
        sql.selectFrom(TYPE).where(TYPE.NAME.ne(definition.name())).orderBy(TYPE.NAME)) {
      TextShape theirs = TextShape.ofOurs(new Prefix(other.getPrefix()));
      Optional<TextShape> olderThere = TypeTable.olderSystem(other).map(OlderSystem::shape);
      boolean isTaken =
          older.isPresent()
              && (older.get().overlaps(theirs)
                  || olderThere.stream().anyMatch(older.get()::overlaps));
      if (isTaken || olderThere.filter(ours::overlaps).isPresent()) {
        return Optional.of(
            new PutOutcome.PublicIdsOverlap(
                isTaken ? Side.OLDER_SYSTEM : Side.PREFIX, other.getName()));
      }
    }
    return Optional.empty();
  }

  private PutOutcome create(
      DSLContext sql, TypeDefinition definition, Salt salt, OptionalInt expectedVersion) {
    if (definition.generation() instanceof KeyGeneration.Segment(String tag)
        && !(SegmentDefinition.isTag(tag) && sql.fetchExists(SEGMENT, SEGMENT.TAG.eq(tag)))) {
      return new PutOutcome.TagUnknown();
    }
    TypeRecord row = sql.newRecord(TYPE);
    row.setName(definition.name());
    row.setPrefix(definition.prefix().value());
    row.setKeyKind(definition.keyKind().wireName());
    TypeTable.setGeneration(row, definition.generation());
    row.setSalt(salt.bytes());
    TypeTable.setPolicies(row, definition.policies());
    row.setClientNames(definition.clientNames().orElse(ClientNames.DEFAULT).wireName());
    Optional<Type> created =
        sql.insertInto(TYPE)
            .set(row)
            .onConflictDoNothing()
            .returning()
            .fetchOptional(TypeTable::read);
    if (created.isPresent()) {
      tell(sql, created.get());
      return new PutOutcome.Created(created.get());
    }
    Optional<Type> winner = locked(sql, definition.name());
    if (winner.isEmpty()) {
      return new PutOutcome.PrefixTaken();
    }
    return expectedVersion.isPresent()
        ? new PutOutcome.VersionDiffers(winner.get().version())
        : update(sql, winner.get(), definition);
  }

  private static PutOutcome update(DSLContext sql, Type present, TypeDefinition definition) {
    if (!present.prefix().equals(definition.prefix())) {
      return new PutOutcome.ImmutableFieldDiffers("prefix");
    }
    if (present.keyKind() != definition.keyKind()) {
      return new PutOutcome.ImmutableFieldDiffers("key");
    }
    if (!present.generation().equals(definition.generation())) {
      return new PutOutcome.ImmutableFieldDiffers(
          !present.generation().wireName().equals(definition.generation().wireName())
              ? "generate"
              : definition.generation() instanceof KeyGeneration.Segment ? "tag" : "layout");
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

  /** The last statement of the transaction. */
  private static void tell(DSLContext sql, Type changed) {
    ChangeTable.append(sql, ChangeKind.TYPE, List.of(Integer.toString(changed.number())));
  }

  private static Optional<Type> locked(DSLContext sql, String name) {
    return sql.selectFrom(TYPE)
        .where(TYPE.NAME.eq(name))
        .forUpdate()
        .fetchOptional(TypeTable::read);
  }
}
