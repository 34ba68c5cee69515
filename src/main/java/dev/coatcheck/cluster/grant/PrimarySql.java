package dev.coatcheck.cluster.grant;

/**
 * SQL that tells the primary which answers from any other that ever served this data. After a
 * promotion the timeline differs, after a restore or a switch to a copy the system.
 */
public final class PrimarySql {
  /**
   * Taken from the current WAL file, because the control file still shows the old one minutes after
   * a promotion.
   */
  public static final String TIMELINE =
      "('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint";

  public static final String SYSTEM_IDENTIFIER =
      "(select system_identifier from pg_control_system())";

  private PrimarySql() {}
}
