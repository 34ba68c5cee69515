-- The public IDs that types had in older systems: a shape, with a row each (pattern), or a rule that decodes them, without
-- rows. The regular expressions of before are given up: a type that had one is put again. Its rows stay.
alter table coatcheck.type
  drop column public_pattern,
  add column public_scheme      text,                       -- null: none
  add column public_text_prefix text    not null default '',
  add column public_type_name   text    not null default '', -- of TypeIDs
  add column public_salt        text    not null default '', -- of Hashids
  add column public_alphabet    text    not null default '',
  add column public_min_length  integer not null default 0,
  add column public_max_length  integer not null default 0,  -- of a pattern
  add constraint type_public_scheme_known check (public_scheme in ('pattern', 'hashids', 'sqids', 'typeid', 'uuid'));
