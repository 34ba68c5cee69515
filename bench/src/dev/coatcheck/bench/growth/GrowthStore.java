package dev.coatcheck.bench.growth;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.postgres.sql.Database;

/** The table of mappings, whole or in partitions. */
final class GrowthStore {
  /** What a distributed Postgres does to the table, on one machine. */
  private static final String PARTITION =
      """
      drop table coatcheck.public_id;
      create table coatcheck.public_id (
        key        bigint      not null,
        created_at timestamptz not null default now(),
        token      uuid        not null,
        type_id    integer     not null,
        bucket     smallint    not null,
        status     smallint    not null default 0,
        constraint public_id_token_is_unique primary key (bucket, token),
        constraint public_id_key_is_unique   unique (type_id, key, bucket)
      ) partition by hash (bucket);
      create index public_id_ended on coatcheck.public_id (type_id, key) where status <> 0;
      do $$
      begin
        for part in 0..15 loop
          execute format(
            'create table coatcheck.public_id_%1$s partition of coatcheck.public_id'
            ' for values with (modulus 16, remainder %1$s)', part);
        end loop;
      end $$
      """;

  private final Database database;

  GrowthStore(Database database) {
    this.database = database;
  }

  void partition() {
    int _ = database.write("bench", sql -> sql.execute(PARTITION));
  }

  long bytes() {
    return database.read(
        "size",
        sql ->
            ((Number)
                    requireNonNull(
                        sql.fetchValue(
                            "select pg_total_relation_size('coatcheck.public_id')"
                                + " + coalesce(sum(pg_total_relation_size(relid)), 0)"
                                + " from pg_partition_tree('coatcheck.public_id')")))
                .longValue());
  }
}
