-- Truncates an outbox that the triggers don't write to, if it is empty.
-- Locks: the outbox in access exclusive mode until the commit.

lock table <outbox> in access exclusive mode;

do <body> begin
  if not exists (select from <outbox>) then
    truncate <outbox>;
  end if;
end <body>;
