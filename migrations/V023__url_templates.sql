-- Which paths of the application's URLs hold legacy IDs: /orders/{legacy:order}.
alter table coatcheck.type add column url_templates text[] not null default '{}';
