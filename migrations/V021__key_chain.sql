-- A key with a limit may rotate itself as often as it likes, and each key of such a chain works
-- until its overlap has passed. So the limit is one for the whole chain.
alter table coatcheck.api_key add column chain text;

comment on column coatcheck.api_key.chain is
  'ID of the first API key of its chain of rotations, all of which share one quota. Null: this one.';

with recursive rotated (key_id, chain) as (
  select successor, key_id
    from coatcheck.api_key first
   where successor is not null
     and not exists (select from coatcheck.api_key old where old.successor = first.key_id)
  union all
  select made.successor, rotated.chain
    from rotated
    join coatcheck.api_key made on made.key_id = rotated.key_id
   where made.successor is not null
)
update coatcheck.api_key later
   set chain = rotated.chain
  from rotated
 where rotated.key_id = later.key_id;
