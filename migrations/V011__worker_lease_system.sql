-- A restored or switched-to database may have the timeline that the rows name and still not know
-- the last grants. The system identifier tells it from the database that granted them. 0 is no
-- system's, so rows of before this migration rest once.
alter table coatcheck.worker_lease add column system_identifier bigint not null default 0;

-- The system on which this schema was made. On its first timeline no registration of a worker can
-- have been lost; anywhere else newly registered workers rest, as all others do after a failover.
create table coatcheck.worker_lease_origin (
  system_identifier bigint not null,
  constraint worker_lease_origin_pkey primary key (system_identifier)
);
insert into coatcheck.worker_lease_origin select system_identifier from pg_control_system();
