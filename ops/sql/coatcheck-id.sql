-- Public IDs of Coatcheck in the SQL of an application's own database, PostgreSQL 15 or later:
--
--   coatcheck_valid(text)            whether the text is a public ID; null for null, and never an error
--   coatcheck_valid(text, prefix)    whether it is one with this prefix
--   coatcheck_parse(text)            its prefix and token, the token as a uuid; null if it is no public ID
--   coatcheck_format(prefix, uuid)   the public ID of a token; an error if the prefix can't be one
--   coatcheck_id                     a domain: text that is a public ID, in the order of its tokens
--   coatcheck_prefix                 a domain: text that can be a prefix
--
-- They look at the text only: whether a public ID was ever minted, only the gateway knows.
--
-- Run this file as the role that is to own the functions, with psql or any tool for migrations. It is one statement,
-- needs no extension and no superuser, and can be run again. Everything goes into the schema coatcheck_id; for another
-- one replace its name. To uninstall, with all columns of the domains, and all checks, indexes and views that use it:
--
--   drop schema coatcheck_id cascade;
--
-- The functions are immutable, strict and parallel safe, so checks, generated columns and indexes can use them. Each has
-- a search path of its own: an operator that someone plants in a schema of the caller's search path never runs. That
-- forbids inlining, and loops can't be inlined anyway. They are loops in PL/pgSQL because a function in SQL that calls
-- another is planned again for each row before PostgreSQL 18, and aggregates over characters take ten times as long.
-- Roughly, on one core: a million texts take 9 s to check and 22 s to parse, a million tokens 29 s to format.
do $install$
declare
  path constant pg_catalog.text := pg_catalog.current_setting('search_path');
  other pg_catalog.name;
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

  -- The owner of a schema can drop what is in it, and put something else there.
  select r.rolname into other
  from pg_namespace s join pg_roles r on r.oid = s.nspowner
  where s.nspname = 'coatcheck_id' and r.rolname <> current_user;
  if found then
    raise insufficient_privilege using
      message = format('The schema coatcheck_id belongs to %I.', other),
      hint = format('Run this file as %I, or use another schema.', other);
  end if;
  if to_regnamespace('coatcheck_id') is null then
    create schema coatcheck_id;
    grant usage on schema coatcheck_id to public; -- the functions read nothing but their arguments
  end if;

  if to_regtype('coatcheck_id.coatcheck_prefix') is null then
    create domain coatcheck_id.coatcheck_prefix as text collate "C"
      constraint coatcheck_prefix_is_valid
      check (octet_length(value) <= 32 and value ~ '^[a-z][a-z0-9]*(_[a-z0-9]+)*$');
  end if;

  -- The check characters of a prefix, underscore and payload: the sum of weight times byte, mod 3833. Weights
  -- count from the right, so each byte is added once per byte from it to the end.
  create or replace function coatcheck_id.coatcheck_check(id text) returns text
    language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
  as $$
    declare
      alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
      bytes constant bytea := decode(id, 'escape');
      total integer := 0;
      weighted integer := 0;
    begin
      for i in 0 .. length(bytes) - 1 loop
        total := total + get_byte(bytes, i);
        weighted := weighted + total;
      end loop;
      return substr(alphabet, weighted % 3833 / 62 + 1, 1) || substr(alphabet, weighted % 3833 % 62 + 1, 1);
    end $$;

  -- Text is compared under the collation "C", byte by byte, whatever the collation of a column is.
  create or replace function coatcheck_id.coatcheck_valid(id text) returns boolean
    language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
  as $$
    begin
      return case
        when octet_length(id) > 57 or id collate "C" !~ '^[a-z][a-z0-9]*(_[a-z0-9]+)*_[0-9A-Za-z]{24}$' then false
        when substr(right(id, 24), 1, 22) collate "C" > '7n42DGM5Tflk9n8mt7Fhc7' then false -- 2^128 - 1
        else right(id, 2) collate "C" = coatcheck_id.coatcheck_check(left(id, -2))
      end;
    end $$;

  create or replace function coatcheck_id.coatcheck_valid(id text, prefix text) returns boolean
    language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
  as $$
    begin
      return left(id, -25) collate "C" = prefix and coatcheck_id.coatcheck_valid(id);
    end $$;

  create or replace function coatcheck_id.coatcheck_parse(id text, out prefix text, out token uuid)
    language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
  as $$
    declare
      bytes bytea;
      digit integer;
      number numeric := 0;
      words text := '';
    begin
      if coatcheck_id.coatcheck_valid(id) then
        bytes := decode(right(id, 24), 'escape');
        for i in 0 .. 21 loop
          digit := get_byte(bytes, i);
          number := number * 62 + (digit - 48 - 7 * (digit / 65) - 6 * (digit / 97)); -- after '9', and after 'Z'
        end loop;
        for i in 1 .. 4 loop
          words := lpad(to_hex(mod(number, 4294967296)::bigint), 8, '0') || words;
          number := div(number, 4294967296);
        end loop;
        prefix := left(id, -25);
        token := words::uuid;
      end if;
    end $$;

  create or replace function coatcheck_id.coatcheck_format(prefix coatcheck_id.coatcheck_prefix, token uuid) returns text
    language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
  as $$
    declare
      alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
      bytes constant bytea := uuid_send(token);
      number numeric := 0;
      payload text := '';
    begin
      for i in 0 .. 15 loop
        number := number * 256 + get_byte(bytes, i);
      end loop;
      for i in 1 .. 22 loop
        payload := substr(alphabet, mod(number, 62)::integer + 1, 1) || payload;
        number := div(number, 62);
      end loop;
      return prefix || '_' || payload || coatcheck_id.coatcheck_check(prefix || '_' || payload);
    end $$;

  if to_regtype('coatcheck_id.coatcheck_id') is null then
    create domain coatcheck_id.coatcheck_id as text collate "C"
      constraint coatcheck_id_is_valid check (coatcheck_id.coatcheck_valid(value));
  end if;
  perform set_config('search_path', path, true);
end
$install$;
