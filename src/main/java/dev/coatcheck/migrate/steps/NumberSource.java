package dev.coatcheck.migrate.steps;

/**
 * The number source of new rows: a sequence that holds {@code milliseconds << 22 | n}, counted from
 * the layout's epoch, and only ever moves forward. n below 4096 may be issued; what follows is a
 * gate that never is.
 *
 * <p>The usual call is one {@code nextval} without a lock. If the value is over 1 ms old or in the
 * gate, the sequence is moved under an advisory lock that is taken inside a subtransaction. Raising
 * and catching an error of our own rolls that back, which frees the lock at once and after every
 * error too, while the sequence stays where it was moved. (A session lock leaks when a statement
 * times out; a lock around {@code setval} only makes duplicates; so does a cache above 1.)
 */
public final class NumberSource {
  static final String SEQUENCE =
      "create sequence <mint_seq> as bigint minvalue 0 start 0 cache 1 no cycle";

  static final String FUNCTION =
      """
      create function <mint>() returns bigint
        language plpgsql volatile parallel unsafe security definer
        set search_path = pg_catalog, pg_temp as <body>
      declare
        v  bigint := nextval(<mint_seq_text>::regclass);
        ms bigint := floor(extract(epoch from <clock>) * 1000)::bigint - <epoch>;
      begin
        if (v & 4194303) >= 4096 or (v >> 22) < ms - 1 then
          begin
            if (v & 4194303) >= 4096 or (v >> 22) < ms - 10 then
              perform pg_advisory_xact_lock(<lock_class>, <lock_table>);
            elsif not pg_try_advisory_xact_lock(<lock_class>, <lock_table>) then
              -- Somebody else is moving it; v is unique and at most 10 ms old.
              raise exception using errcode = 'CC000';
            end if;
            v  := nextval(<mint_seq_text>::regclass);
            ms := floor(extract(epoch from <clock>) * 1000)::bigint - <epoch>;
            if (v >> 22) < ms or (v & 4194303) >= 4096 then
              v := setval(<mint_seq_text>::regclass, greatest(ms, (v >> 22) + 1) << 22);
            end if;
            raise exception using errcode = 'CC000';
          exception when sqlstate 'CC000' then null;
          end;
        end if;
        return v | (1023::bigint << 12);
      end <body>\
      """;

  /** Starts it at T0, and after every key that an earlier run gave. */
  static final String START =
      """
      select setval(<mint_seq_text>::regclass,
        greatest((select t0_ms from <schema>.checkpoint where run = <run>),
                 (select coalesce((max(key) >> 22) + 1, 0) from <archive>)) << 22)\
      """;

  private NumberSource() {}
}
