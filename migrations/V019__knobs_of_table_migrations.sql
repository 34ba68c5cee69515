-- Knobs that runs planned before them don't have yet, as new runs have them.
update coatcheck.table_migration
   set knobs = '{"walMegabytesPerSecondMax": 0, "slotMegabytesMax": 10240, "vacuumSecondsMax": 600}'
               || knobs;
