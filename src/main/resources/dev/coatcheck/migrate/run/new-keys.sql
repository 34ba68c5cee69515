-- With --new-keys function: the number source stays beside the table and continues its sequence. It is
-- that of number-source.sql, under another name. As a plain identity the sequence would generate keys of
-- worker 0, which gateways lease.
-- Locks: only the sequence.

alter sequence <mint_seq> rename to <new_key_sequence>;

alter sequence <schema>.<new_key_sequence> set schema <table_schema>;
