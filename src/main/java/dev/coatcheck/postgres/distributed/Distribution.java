package dev.coatcheck.postgres.distributed;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.ShardCatalog;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Distributes the large tables of the schema over the nodes of a Citus cluster, by the bucket of
 * their rows, and rebalances them. The other tables stay on the coordinator: they are small, and an
 * API key can be revoked whatever workers are down.
 */
public final class Distribution {
  private static final int IDEMPOTENCY_PARTS = 9;

  /** All have the same number of shards, so that a bucket has all of its rows on one node. */
  private static final List<String> TABLES =
      Stream.concat(
              Stream.of("public_id", "public_id_uuid", "alias"),
              IntStream.range(0, IDEMPOTENCY_PARTS).mapToObj(part -> "idempotency_" + part))
          .toList();

  private static final String UNDISTRIBUTED =
      """
      select asked.name
        from pg_catalog.unnest(?::text[]) with ordinality as asked (name, ordinal)
       where not exists (
         select from pg_catalog.pg_dist_partition
          where logicalrelid = pg_catalog.concat('coatcheck.', asked.name)::regclass
            and partmethod = 'h')
       order by asked.ordinal
      """;

  private static final String GATEWAYS =
      """
      select count(*) from pg_catalog.pg_stat_activity
       where datname = current_database() and application_name = 'coatcheck'
      """;

  private static final String NODES =
      """
      select count(*) from pg_catalog.pg_dist_node
       where noderole = 'primary' and isactive and shouldhaveshards
      """;

  private static final String PLAN =
      """
      select pg_catalog.concat(sourcename, ':', sourceport),
             pg_catalog.concat(targetname, ':', targetport), count(*),
             coalesce(pg_catalog.sum(shard_size), 0)::bigint
        from pg_catalog.get_rebalance_table_shards_plan()
       group by 1, 2 order by 1, 2
      """;

  /**
   * The tables that have rows on the coordinator, where none is read: Citus leaves those that it
   * has copied.
   */
  private static final String WITH_LOCAL_ROWS =
      """
      select asked.name
        from pg_catalog.unnest(?::text[]) with ordinality as asked (name, ordinal)
       where pg_catalog.pg_relation_size(
               pg_catalog.concat('coatcheck.', asked.name)::regclass) > 0::bigint
       order by asked.ordinal
      """;

  private Distribution() {}

  /**
   * What was done.
   *
   * @param distributed tables that were distributed now; empty if all were before
   * @param shards of each table
   * @param nodes that may hold shards
   */
  public record Distributed(List<String> distributed, int shards, int nodes) {}

  /** Shards that a rebalancing moves from one node to another, and their bytes. */
  public record Move(String from, String to, long shards, long bytes) {}

  /**
   * Distributes those of the tables that are not yet. Each is locked while its rows are copied.
   *
   * @param shards of each table; those that are distributed already keep theirs
   * @throws UnusableDatabase with what is missing; nothing was changed
   */
  public static Distributed distribute(DatabaseSettings settings, int shards)
      throws UnusableDatabase {
    try (Session session = Session.openUnpinned(settings, "coatcheck distribute")) {
      int nodes = requireReady(session);
      List<String> missing = session.transaction("distribute", Distribution::undistributed);
      if (!missing.isEmpty()) {
        requireNoGateway(session);
        session.longTransaction(
            "distribute",
            sql -> {
              // Otherwise a table that has rows takes several connections to each node.
              PlainSql.execute(sql, "set local citus.multi_shard_modify_mode = 'sequential'");
              missing.forEach(table -> distribute(sql, table, shards));
              return true;
            });
      }
      // Also those of a command that ended before it came here: an erasure doesn't reach them.
      session.longTransaction(
          "distribute",
          sql -> {
            asked(sql, WITH_LOCAL_ROWS).forEach(table -> dropLocalRows(sql, table));
            return true;
          });
      int count = session.transaction("distribute", sql -> ShardCatalog.shards(sql).count());
      return new Distributed(missing, count, nodes);
    } catch (DataAccessException refused) {
      throw new UnusableDatabase("Citus refused: " + refused.getMessage());
    }
  }

  private static List<String> undistributed(DSLContext sql) {
    return asked(sql, UNDISTRIBUTED);
  }

  private static List<String> asked(DSLContext sql, String statement) {
    return PlainSql.rows(
        sql, statement, row -> row.getString(1), (Object) TABLES.toArray(String[]::new));
  }

  private static void distribute(DSLContext sql, String table, int shards) {
    String first = TABLES.getFirst();
    PlainSql.execute(
        sql,
        "select pg_catalog.create_distributed_table('coatcheck.%s', 'bucket', %s)"
            .formatted(
                table,
                table.equals(first)
                    ? "shard_count => " + shards + ", colocate_with => 'none'"
                    : "colocate_with => 'coatcheck." + first + "'"));
  }

  private static void dropLocalRows(DSLContext sql, String table) {
    PlainSql.execute(
        sql,
        "select pg_catalog.truncate_local_data_after_distributing_table('coatcheck.%s')"
            .formatted(table));
  }

  /**
   * Which shards a rebalancing would move.
   *
   * @throws UnusableDatabase if the tables aren't distributed
   */
  public static List<Move> plan(DatabaseSettings settings) throws UnusableDatabase {
    return distributed(settings, Distribution::plan);
  }

  private static List<Move> plan(DSLContext sql) {
    return PlainSql.rows(
        sql,
        PLAN,
        row -> new Move(row.getString(1), row.getString(2), row.getLong(3), row.getLong(4)));
  }

  /**
   * Starts a rebalancing, which continues in the background of the cluster.
   *
   * @return the planned moves; if there are none, nothing was started
   * @throws UnusableDatabase if the tables aren't distributed, or Citus refuses
   */
  public static List<Move> rebalance(DatabaseSettings settings) throws UnusableDatabase {
    return distributed(
        settings,
        sql -> {
          List<Move> moves = plan(sql);
          if (!moves.isEmpty()) {
            PlainSql.execute(sql, "select pg_catalog.citus_rebalance_start()");
          }
          return moves;
        });
  }

  private static <T> T distributed(DatabaseSettings settings, Function<DSLContext, T> work)
      throws UnusableDatabase {
    try (Session session = Session.openUnpinned(settings, "coatcheck rebalance")) {
      int _ = requireReady(session);
      List<String> missing = session.transaction("distribute", Distribution::undistributed);
      if (!missing.isEmpty()) {
        throw new UnusableDatabase(
            "These tables are not distributed: %s. Run coatcheck database distribute first."
                .formatted(String.join(", ", missing)));
      }
      return session.transaction("rebalance", work);
    } catch (DataAccessException refused) {
      throw new UnusableDatabase("Citus refused: " + refused.getMessage());
    }
  }

  private static int requireReady(Session session) throws UnusableDatabase {
    List<String> faults = new ArrayList<>();
    int nodes =
        session.transaction(
            "distribute",
            sql -> {
              if (!ShardCatalog.hasCitus(sql)) {
                faults.add(
                    "This database has no extension \"citus\". Install Citus on every node, run"
                        + " \"create extension citus\" in the database of the same name on each,"
                        + " and citus_set_coordinator_host and citus_add_node on the coordinator");
                return 0;
              }
              int found = PlainSql.row(sql, NODES, row -> row.getInt(1));
              if (found == 0) {
                faults.add(
                    "The Citus cluster has no node that may hold shards. Add the workers with"
                        + " citus_add_node");
              }
              return found;
            });
    if (!faults.isEmpty()) {
      throw new UnusableDatabase(String.join("; ", faults) + ".");
    }
    return nodes;
  }

  /** A gateway learns at its start where rows are. */
  private static void requireNoGateway(Session session) throws UnusableDatabase {
    long connections =
        session.transaction(
            "distribute", sql -> PlainSql.row(sql, GATEWAYS, row -> row.getLong(1)));
    if (connections > 0) {
      throw new UnusableDatabase(
          "Gateways are connected to this database ("
              + connections
              + " connections). Stop all of them, distribute, and start them again: a gateway"
              + " learns at its start where rows are.");
    }
  }
}
