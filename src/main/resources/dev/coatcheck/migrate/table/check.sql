-- Step "validate", first transaction: a check that every row has a key, for new and changed rows. From
-- then on the application can't update a row without a key. The latest rows are checked under the lock;
-- all others were checked before.
-- Locks: the customer's table in access exclusive mode until the commit.

lock table <table> in access exclusive mode;

do <body> begin
  if exists (select from <table> t
              where t.<key> is null and t.<id> > AFTER_ID) then
    raise exception 'a row came in without a key' using errcode = '<row_without_key>';
  end if;
end <body>;

alter table <table> add constraint <filled> check (<key> is not null) not valid;
