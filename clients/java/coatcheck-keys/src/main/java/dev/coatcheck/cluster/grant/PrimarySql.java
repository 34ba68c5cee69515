package dev.coatcheck.cluster.grant;

/**
 * SQL that identifies the primary that answers among all that ever served this data. The timeline
 * changes with a promotion, the system identifier with a restore or a switch to a copy.
 */
public final class PrimarySql {
  /**
   * From the current WAL file, because the control file shows the old timeline for minutes after a
   * promotion.
   */
  public static final String TIMELINE =
      "('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint";

  public static final String SYSTEM_IDENTIFIER =
      "(select system_identifier from pg_control_system())";

  private PrimarySql() {}
}
