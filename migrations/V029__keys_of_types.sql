-- What the keys of a type are (key_kind, which names the table of its public IDs), and who makes them (generate).
alter table coatcheck.type
  drop column key_scheme,
  drop column key_layout,
  add column key_kind text not null,
  add column generate text not null,
  add column layout   text, -- of Snowflakes
  add column tag      text, -- of the segment
  add constraint type_key_kind_known check (key_kind in ('bigint', 'uuid')),
  add constraint type_generates_its_kind check (
    generate = 'none'
    or key_kind = case generate when 'snowflake' then 'bigint' when 'segment' then 'bigint' when 'uuidv7' then 'uuid' end),
  add constraint type_generate_known check (generate in ('snowflake', 'segment', 'uuidv7', 'none')),
  add constraint type_layout_is_of_snowflakes check ((layout is not null) = (generate = 'snowflake')),
  add constraint type_tag_is_of_segments check ((tag is not null) = (generate = 'segment')),
  add constraint type_tag_is_a_segment foreign key (tag) references coatcheck.segment;

-- No alias is a key: a type's keys never change.
alter table coatcheck.alias
  drop constraint alias_scheme_known,
  add constraint alias_scheme_known check (scheme in ('legacy', 'client', 'public'));
