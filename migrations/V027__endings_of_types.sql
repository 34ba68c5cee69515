-- A token is unique in each table of public IDs, not over both: an import can bring the token of one
-- type to another type. So an ending belongs to a type and a token.
alter table coatcheck.ending
  drop constraint ending_pkey,
  add constraint ending_pkey primary key (type_id, token);
drop index coatcheck.ending_by_survivor;
create index ending_by_survivor
  on coatcheck.ending (type_id, survivor) where survivor is not null;
