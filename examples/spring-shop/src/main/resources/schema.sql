create table if not exists customer (
  id   bigint primary key,
  name text not null
);
create table if not exists charge (
  id       bigint primary key,
  customer bigint not null references customer (id),
  cents    bigint not null
);
create index if not exists charge_customer on charge (customer, id);
