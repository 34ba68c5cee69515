-- With --new-keys function: the number source goes on beside the table, where its sequence stands. The
-- function follows: number-source.sql under another name. As a plain identity the sequence would give
-- keys of the worker 0, which gateways lease.
-- Locks: none but that of the sequence.

alter sequence <mint_seq> rename to <new_key_sequence>;

alter sequence <schema>.<new_key_sequence> set schema <table_schema>;
