-- A club: a member is invited by a member, has a mentor, and is referred to by eighteen foreign keys of
-- every rule. Beside each column that refers to a member lies the label of that member, for the test.

create table member (
  id serial primary key,
  label text not null unique,
  created_at timestamptz not null default now(),
  invited_by integer references member on delete set null,
  invited_by_label text,
  mentor integer references member on delete set null deferrable initially deferred,
  mentor_label text,
  -- As many applications have it, beside the foreign keys: where a member stands in the tree.
  depth smallint not null default 0
);

create index on member (invited_by);

do $$
declare
  rules text[] := array[
    'on delete cascade', 'on delete set null', 'on delete set default', 'on delete restrict',
    'on delete no action', 'on delete cascade on update cascade',
    'on delete set null deferrable initially deferred', 'on delete cascade deferrable',
    'on delete set default on update restrict', 'deferrable initially deferred'];
  kinds text[] := array['integer', 'bigint'];
begin
  for n in 1 .. 12 loop
    execute format(
      'create table entry_%s (id bigserial primary key, member_id %s %s references member %s,
                              member_id_label text)',
      n, kinds[1 + n % 2],
      case when rules[1 + n % 10] ~ 'set default' then 'default 1'
           when rules[1 + n % 10] ~ 'set null' then '' else 'not null' end,
      rules[1 + n % 10]);
    if n % 3 > 0 then
      execute format('create index on entry_%s (member_id)', n);
    end if;
  end loop;
end $$;

-- Several foreign keys to one parent, one of them in the primary key.
create table transfer (
  payer bigint not null references member on delete cascade,
  payer_label text,
  payee bigint references member on delete set null,
  payee_label text,
  approved_by integer references member on delete set null,
  approved_by_label text,
  at timestamptz not null default clock_timestamp(),
  primary key (payer, at)
);

-- A foreign key that is unique: a member has one card.
create table card (
  member_id integer primary key references member on delete cascade,
  member_id_label text
);

insert into member (label, invited_by, invited_by_label, mentor, mentor_label)
select case when n = 1 then 'first' else 'm' || n end, p.id, p.label, q.id, q.label
  from generate_series(1, 2000) n
  left join lateral (select n / 2 as id,
                            case when n / 2 = 1 then 'first' else 'm' || n / 2 end as label
                      where n > 1) p on true
  left join lateral (select n - 1 as id,
                            case when n = 2 then 'first' else 'm' || n - 1 end as label
                      where n % 7 = 0) q on true;

do $$
begin
  for n in 1 .. 12 loop
    execute format('insert into entry_%s (member_id, member_id_label)
                    select id, label from member where id %% 13 >= %s', n, n);
  end loop;
end $$;

insert into transfer (payer, payer_label, payee, payee_label, approved_by, approved_by_label)
select m.id, m.label, o.id, o.label, a.id, a.label
  from member m join member o on o.id = 2001 - m.id left join member a on a.id = m.id / 3;

insert into card select id, label from member where id % 5 = 0;
