-- Undo of a step that builds a unique index (build-index.sql), also after a failed build.
-- Locks: the customer's table in share update exclusive mode; writers continue.

drop index concurrently if exists <index>;
