package dev.coatcheck.ids.registry;

import static dev.coatcheck.postgres.sql.schema.Tables.LEGACY_HIT;
import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID_UUID;
import static dev.coatcheck.postgres.sql.schema.Tables.SEGMENT;
import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.currentOffsetDateTime;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditEntry;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.older.TextShape;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.schema.tables.records.TypeRecord;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/** All SQL about types. */
final class TypeStore {
  /** What counting public IDs under the lock of all types may read. */
  private static final int COUNTED_MAX = 10_000;

  private static final int HIT_DAYS = 30;

  private final Database database;

  TypeStore(Database database) {
    this.database = database;
  }

  /**
   * Differs whenever a type was created or changed, even if another one was deleted by hand
   * meanwhile: numbers of types are never given again.
   */
  record Revision(int types, int lastNumber, long versions) {
    static final Revision NONE = new Revision(0, 0, 0);
  }

  Revision revision() {
    return database.read(
        "registry revision",
        sql ->
            sql.select(
                    count(),
                    coalesce(max(TYPE.TYPE_ID), 0),
                    coalesce(sum(TYPE.VERSION), BigDecimal.ZERO))
                .from(TYPE)
                .fetchSingle(
                    row ->
                        new Revision(row.value1(), row.value2(), row.value3().longValueExact())));
  }

  List<Type> all() {
    return database.read("registry load", TypeStore::all);
  }

  private static List<Type> all(DSLContext sql) {
    return sql.selectFrom(TYPE).orderBy(TYPE.NAME).fetch(TypeTable::read);
  }

  PutOutcome put(
      String name,
      Function<Optional<Type>, TypeDefinition> change,
      Salt salt,
      PutConditions conditions,
      Actor actor) {
    return database.write(
        "type put",
        sql -> {
          lock(sql);
          List<Type> all = all(sql);
          Optional<Type> present = named(all, name);
          int version = present.map(Type::version).orElse(0);
          if (conditions.version().isPresent() && version != conditions.version().getAsInt()) {
            return new PutOutcome.VersionDiffers(version);
          }
          TypeDefinition definition = change.apply(present);
          return refusal(all, definition)
              .or(() -> overlap(all, definition))
              .orElseGet(
                  () ->
                      present.isPresent()
                          ? update(sql, all, present.get(), definition, conditions, actor)
                          : create(sql, all, definition, salt, actor));
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
      DSLContext sql, List<Type> all, TypeDefinition definition, Salt salt, Actor actor) {
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
    tell(sql, created, actor, Map.of("created", true));
    return new PutOutcome.Created(created);
  }

  private static PutOutcome update(
      DSLContext sql,
      List<Type> all,
      Type present,
      TypeDefinition definition,
      PutConditions conditions,
      Actor actor) {
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
    Optional<PutOutcome> dying =
        conditions
            .linksLiveAt()
            .flatMap(now -> dyingLinks(sql, all, present, definition.policies(), now));
    if (dying.isPresent()) {
      return dying.get();
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
    tell(
        sql,
        updated,
        actor,
        Map.of(
            "fields", changedFields(present, updated),
            "links_confirmed", conditions.linksLiveAt().isEmpty()));
    return new PutOutcome.Updated(updated);
  }

  /** The links that the change would end; none if the type has no public ID that has a target. */
  private static Optional<PutOutcome> dyingLinks(
      DSLContext sql, List<Type> all, Type present, Policies next, Instant now) {
    Set<LegacyUrlTemplate> elsewhere =
        all.stream()
            .filter(type -> type.number() != present.number())
            .flatMap(type -> type.urlTemplates().stream())
            .collect(Collectors.toSet());
    List<DyingLinks> dying = DyingLinks.between(present.policies(), next, elsewhere, now);
    if (dying.isEmpty()) {
      return Optional.empty();
    }
    LiveIds live = liveIds(sql, present);
    return live.isNone() && !isFilling(sql, present)
        ? Optional.empty()
        : Optional.of(
            new PutOutcome.LinksWouldDie(
                dying, legacyHits(sql, present, now), live.count(), live.isAll()));
  }

  private record LiveIds(int count, boolean isAll) {
    boolean isNone() {
      return count == 0 && isAll;
    }
  }

  /** Counts among the newest public IDs: among millions it would take seconds, with the lock. */
  private static LiveIds liveIds(DSLContext sql, Type type) {
    return sql.resultQuery(
            """
            select least(count(*) filter (where status = 0), {3}), count(*) <= {3}
              from (select status from {0} where type_id = {1}
                     order by type_id desc, key desc limit {2}) as newest
            """,
            type.keyKind() == KeyKind.BIGINT ? PUBLIC_ID : PUBLIC_ID_UUID,
            val(type.number()),
            val(COUNTED_MAX + 1),
            val(COUNTED_MAX))
        .coerce(field("count", Integer.class), field("is_all", Boolean.class))
        .fetchSingle(row -> new LiveIds(row.value1(), row.value2()));
  }

  /** Whether legacy IDs have public IDs that are minted when they are asked for. */
  private static boolean isFilling(DSLContext sql, Type type) {
    return sql.fetchExists(
        TABLE_MIGRATION,
        TABLE_MIGRATION.TYPE_ID.eq(type.number()).and(TABLE_MIGRATION.OCCUPIES.isTrue()));
  }

  private static long legacyHits(DSLContext sql, Type type, Instant now) {
    LocalDate today = LocalDate.ofInstant(now, ZoneOffset.UTC);
    return sql.select(coalesce(sum(LEGACY_HIT.COUNT), BigDecimal.ZERO))
        .from(LEGACY_HIT)
        .where(
            LEGACY_HIT.TYPE_ID.eq(type.number()).and(LEGACY_HIT.DAY.gt(today.minusDays(HIT_DAYS))))
        .fetchSingle(row -> row.value1().longValueExact());
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

  private static List<String> changedFields(Type present, Type updated) {
    List<String> fields =
        new ArrayList<>(changedFields("", present.policies().json(), updated.policies().json()));
    if (present.clientNames() != updated.clientNames()) {
      fields.add("client_names");
    }
    return fields;
  }

  /** The fields that differ, by their dotted names. */
  private static List<String> changedFields(String path, Map<?, ?> before, Map<?, ?> after) {
    SortedSet<String> names = new TreeSet<>();
    before.keySet().forEach(name -> names.add(String.valueOf(name)));
    after.keySet().forEach(name -> names.add(String.valueOf(name)));
    List<String> fields = new ArrayList<>();
    for (String name : names) {
      Object was = before.get(name);
      Object is = after.get(name);
      if (was instanceof Map<?, ?> old && is instanceof Map<?, ?> next) {
        fields.addAll(changedFields(path + name + ".", old, next));
      } else if (!Objects.equals(was, is)) {
        fields.add(path + name);
      }
    }
    return fields;
  }

  /** Audits the change and tells all instances, at the end of the transaction. */
  private static void tell(DSLContext sql, Type changed, Actor actor, Map<String, ?> detail) {
    AuditTable.append(
        sql, List.of(AuditEntry.of(actor, "type.put", List.of(changed.name()), detail)));
    ChangeTable.append(sql, ChangeKind.TYPE, List.of(Integer.toString(changed.number())));
  }
}
