-- What a client's own ID is unique in: a channel, a user, a device, or the caller itself. Tagged, so
-- that nobody can name a namespace like a principal: 'n:<text>', 'p:<principal>', or empty.
alter table coatcheck.alias
  add column namespace text not null default '';

-- The default is for rows of the version before, which knows no namespaces: all callers share them.
alter table coatcheck.type
  add column client_names text not null default 'shared',
  add constraint type_client_names_known check (client_names in ('required', 'principal', 'shared'));
