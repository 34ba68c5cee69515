package dev.coatcheck.migrate.primarykey;

import java.util.List;

/** The tables of the {@link Shop}. */
final class ShopTables {
  /** One child for each rule, and a reference of the table to itself. */
  static final List<String> CREATE =
      List.of(
          """
          create table orders (
            id bigserial primary key, created_at timestamptz not null default now(),
            code text unique, text text, before_id bigint references orders on delete set null)\
          """,
          """
          create table item (
            id bigserial primary key,
            order_id bigint not null references orders on delete cascade, text text)\
          """,
          """
          create table note (
            id bigserial primary key,
            order_id bigint references orders on delete set null, text text unique)\
          """,
          """
          create table payment (
            id bigserial primary key,
            order_id bigint not null references orders deferrable initially deferred)\
          """);

  private ShopTables() {}
}
