create table channel (
  id bigint primary key,
  name text not null
);

create table message (
  id bigint primary key,
  channel_id bigint not null references channel (id),
  author text not null,
  text text not null
);

create index message_by_channel on message (channel_id, id);
