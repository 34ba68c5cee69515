-- Another name of a mapped thing. A name belongs to one public ID for ever, also after its end.
create table coatcheck.alias (
  token   uuid     not null, -- whose name it is
  type_id integer  not null,
  bucket  smallint not null, -- of the scheme and the value
  scheme  text     not null,
  value   text     not null,
  constraint alias_name_is_unique primary key (bucket, type_id, scheme, value),
  constraint alias_scheme_known check (scheme in ('legacy', 'client', 'key', 'public'))
);

-- The bucket of an alias, as the gateway computes it.
create function coatcheck.bucket_of_alias(salt bytea, scheme text, value text) returns smallint
  language sql immutable strict parallel safe
  return coatcheck.bucket_of_digest(
    sha256(salt || convert_to(scheme, 'UTF8') || '\x00'::bytea || convert_to(value, 'UTF8')));
