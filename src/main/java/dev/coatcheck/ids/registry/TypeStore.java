package dev.coatcheck.ids.registry;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static dev.coatcheck.postgres.sql.schema.Tables.SEGMENT;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.currentOffsetDateTime;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.sum;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.schema.tables.records.TypeRecord;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import org.jooq.DSLContext;

/** All SQL about types but their eras. */
final class TypeStore {
  private final Database database;
  private final SealKeys sealKeys;

  TypeStore(Database database, SealKeys sealKeys) {
    this.database = database;
    this.sealKeys = sealKeys;
  }

  /**
   * Differs whenever a type was created or changed, even if another one was deleted by hand
   * meanwhile: numbers of types are never given again. Only the time differs if a failover lost a
   * change and another type was changed since.
   */
  record Revision(int types, int lastNumber, long versions, Optional<Instant> changedAt) {
    static final Revision NONE = new Revision(0, 0, 0, Optional.empty());
  }

  Revision revision() {
    return database.read(
        "registry revision",
        sql ->
            sql.select(
                    count(),
                    coalesce(max(TYPE.TYPE_ID), 0),
                    coalesce(sum(TYPE.VERSION), BigDecimal.ZERO),
                    max(TYPE.UPDATED_AT))
                .from(TYPE)
                .fetchSingle(
                    row ->
                        new Revision(
                            row.value1(),
                            row.value2(),
                            row.value3().longValueExact(),
                            Optional.ofNullable(row.value4()))));
  }

  List<Type> all() {
    return database.read("registry load", this::all);
  }

  /** All types, by name, within a transaction. */
  List<Type> all(DSLContext sql) {
    List<TypeRecord> rows = sql.selectFrom(TYPE).orderBy(TYPE.NAME).fetch();
    Map<Integer, List<Sealing.Era>> eras =
        rows.stream().anyMatch(row -> row.getSealedFrom() != null)
            ? EraTable.all(sql, sealKeys)
            : Map.of();
    return rows.stream()
        .map(row -> TypeTable.read(row, eras.getOrDefault(row.getTypeId(), List.of())))
        .toList();
  }

  Type reread(DSLContext sql, String name) {
    return named(all(sql), name).orElseThrow();
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
          Optional<PutOutcome> differs = versionDiffers(present, conditions);
          if (differs.isPresent()) {
            return differs.get();
          }
          TypeDefinition definition = change.apply(present);
          return refusal(sql, all, present, definition, conditions)
              .orElseGet(
                  () ->
                      present.isPresent()
                          ? update(sql, present.get(), definition, conditions, actor)
                          : create(sql, definition, salt, actor));
        });
  }

  /** Why a put would be refused now; empty if it would be done. */
  Optional<PutOutcome> refusal(
      String name, Function<Optional<Type>, TypeDefinition> change, PutConditions conditions) {
    return database.read(
        "type preview",
        sql -> {
          List<Type> all = all(sql);
          Optional<Type> present = named(all, name);
          return versionDiffers(present, conditions)
              .or(() -> refusal(sql, all, present, change.apply(present), conditions));
        });
  }

  private static Optional<PutOutcome> versionDiffers(
      Optional<Type> present, PutConditions conditions) {
    int version = present.map(Type::version).orElse(0);
    return conditions.version().isPresent() && version != conditions.version().getAsInt()
        ? Optional.of(new PutOutcome.VersionDiffers())
        : Optional.empty();
  }

  /**
   * Serializes all changes of types, so that each sees the URL templates and older public IDs of
   * all others.
   */
  static void lock(DSLContext sql) {
    sql.execute("lock table {0} in share row exclusive mode", TYPE);
  }

  static Optional<Type> named(List<Type> all, String name) {
    return all.stream().filter(type -> type.name().equals(name)).findFirst();
  }

  private Optional<PutOutcome> refusal(
      DSLContext sql,
      List<Type> all,
      Optional<Type> present,
      TypeDefinition definition,
      PutConditions conditions) {
    return TypeRules.refusal(all, present, definition)
        .or(() -> SealRules.refusal(present, definition, sealKeys))
        .or(() -> refusalOfRows(sql, all, present, definition, conditions));
  }

  /** What only the database can tell against a definition. */
  private static Optional<PutOutcome> refusalOfRows(
      DSLContext sql,
      List<Type> all,
      Optional<Type> present,
      TypeDefinition definition,
      PutConditions conditions) {
    if (present.isPresent()) {
      return newlySealed(present.get(), definition)
          .flatMap(
              wanted ->
                  LiveLinkTable.isFilling(sql, present.get())
                      ? Optional.of(SealRules.migrating())
                      : SealRules.tooEarly(wanted, now(sql), lastKey(sql, present.get())))
          .or(
              () ->
                  conditions
                      .linksLiveAt()
                      .flatMap(
                          now ->
                              LiveLinkTable.dying(
                                  sql, all, present.get(), definition.policies(), now)));
    }
    return definition.generation() instanceof KeyGeneration.Segment(String tag)
            && !sql.fetchExists(SEGMENT, SEGMENT.TAG.eq(tag))
        ? Optional.of(
            new PutOutcome.Refused(
                "key_generation_refused",
                "tag",
                "No segment has this tag. Create the segment with PUT /v1/segments/{tag} first."))
        : Optional.empty();
  }

  private static Optional<TypeDefinition.SealedFrom> newlySealed(
      Type present, TypeDefinition definition) {
    return definition.sealed().filter(_ -> present.sealing().isEmpty());
  }

  static Instant now(DSLContext sql) {
    return sql.select(currentOffsetDateTime().coerce(TYPE.UPDATED_AT)).fetchSingle().value1();
  }

  /** The time of the greatest key of a type of Snowflakes; empty if it has none. */
  private static Optional<Instant> lastKey(DSLContext sql, Type type) {
    return type.generation() instanceof KeyTimes.Snowflakes(SnowflakeLayout layout)
        ? Optional.ofNullable(
                sql.select(max(PUBLIC_ID.KEY))
                    .from(PUBLIC_ID)
                    .where(PUBLIC_ID.TYPE_ID.eq(type.number()))
                    .fetchSingle()
                    .value1())
            .map(layout::timeOf)
        : Optional.empty();
  }

  private PutOutcome create(DSLContext sql, TypeDefinition definition, Salt salt, Actor actor) {
    TypeRecord row = sql.newRecord(TYPE);
    row.setName(definition.name());
    row.setPrefix(definition.prefix().value());
    TypeTable.setKeys(row, definition.keyKind(), definition.generation());
    row.setSalt(salt.bytes());
    TypeTable.setPolicies(row, definition.policies());
    row.setClientNames(definition.clientNames().orElse(ClientNames.DEFAULT).wireName());
    definition.sealed().ifPresent(first -> row.setSealedFrom(first.from()));
    if (definition.retired()) {
      row.setRetiredAt(now(sql));
    }
    int number = sql.insertInto(TYPE).set(row).returning().fetchSingle().getTypeId();
    definition.sealed().ifPresent(first -> EraTable.insert(sql, number, null, first.sealKey()));
    Type created = reread(sql, definition.name());
    tell(sql, created, actor, Map.of("created", true));
    return new PutOutcome.Created(created);
  }

  private PutOutcome update(
      DSLContext sql,
      Type present,
      TypeDefinition definition,
      PutConditions conditions,
      Actor actor) {
    ClientNames clientNames = definition.clientNames().orElse(present.clientNames());
    Optional<TypeDefinition.SealedFrom> sealed = newlySealed(present, definition);
    if (present.policies().equals(definition.policies())
        && present.clientNames() == clientNames
        && present.isRetired() == definition.retired()
        && sealed.isEmpty()) {
      return new PutOutcome.Updated(present);
    }
    TypeRecord row = sql.newRecord(TYPE);
    sealed.ifPresent(
        first -> {
          row.setSealedFrom(first.from());
          EraTable.insert(sql, present.number(), null, first.sealKey());
        });
    TypeTable.setPolicies(row, definition.policies());
    row.setClientNames(clientNames.wireName());
    row.setRetiredAt(definition.retired() ? present.retiredAt().orElseGet(() -> now(sql)) : null);
    change(sql, present, row);
    Type updated = reread(sql, present.name());
    tell(
        sql,
        updated,
        actor,
        Map.of(
            "fields", changedFields(present, updated),
            "links_confirmed", conditions.linksLiveAt().isEmpty()));
    return new PutOutcome.Updated(updated);
  }

  /** Changes the row of a type, and its version. */
  static void change(DSLContext sql, Type present, TypeRecord row) {
    sql.update(TYPE)
        .set(row)
        .set(TYPE.VERSION, TYPE.VERSION.plus(1))
        .set(TYPE.UPDATED_AT, currentOffsetDateTime().coerce(TYPE.UPDATED_AT))
        .where(TYPE.TYPE_ID.eq(present.number()))
        .execute();
  }

  private static List<String> changedFields(Type present, Type updated) {
    List<String> fields =
        new ArrayList<>(changedFields("", present.policies().json(), updated.policies().json()));
    if (present.clientNames() != updated.clientNames()) {
      fields.add("client_names");
    }
    if (present.isRetired() != updated.isRetired()) {
      fields.add("retired");
    }
    if (present.sealing().isEmpty() && updated.sealing().isPresent()) {
      fields.add("sealed");
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
    AuditTable.append(sql, actor, "type.put", changed.name(), detail);
    ChangeTable.append(sql, ChangeKind.TYPE, List.of(Integer.toString(changed.number())));
  }
}
