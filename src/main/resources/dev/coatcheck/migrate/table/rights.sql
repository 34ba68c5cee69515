-- Step "prepare", last but one: only their owner may call the functions.
-- Locks: none on the customer's table.

revoke all on function <on_insert>() from public;
revoke all on function <on_inserted>() from public;
revoke all on function <on_archived>() from public;
revoke all on function <on_reused>() from public;
revoke all on function <on_delete>() from public;
revoke all on function <on_update>() from public;
revoke all on function <on_refused>() from public;
revoke all on function <mint>() from public;
revoke all on function <fill>(bigint[], bigint[]) from public;
