package dev.coatcheck.cluster.audit;

import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.OptionalLong;

/** Reads the audit: page by page, or as a whole. */
public final class Audit {
  /** An entry of a batch has up to 100 KB. */
  private static final int PORTION_ROWS = 100;

  private final AuditStore store;

  public Audit(Database database) {
    this.store = new AuditStore(database);
  }

  /**
   * A part of a list.
   *
   * @param hasMore whether older entries follow
   */
  public record Page(List<RecordedEntry> entries, boolean hasMore) {
    public Page {
      entries = List.copyOf(entries);
    }
  }

  /**
   * The newest entries, newest first.
   *
   * @param after the number of the last entry of the page before
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public Page page(AuditFilter filter, OptionalLong after, int limit) {
    List<RecordedEntry> found = store.newest(filter, after.orElse(Long.MAX_VALUE), limit + 1);
    return new Page(found.subList(0, Math.min(found.size(), limit)), found.size() > limit);
  }

  /** The number of the last entry that there is now; 0 if there is none. */
  public long lastNumber() {
    return store.lastNumber();
  }

  /**
   * Some entries, oldest first; none after the last one. Entries are only appended, so portions
   * read one after the other are all entries up to {@code last}, and no transaction lasts as long
   * as their reader.
   *
   * @param after the number of the last entry of the portion before; 0 for the first portion
   * @param last the number after which entries are left out
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public List<RecordedEntry> portion(AuditFilter filter, long after, long last) {
    return store.oldest(filter, after, last, PORTION_ROWS);
  }
}
