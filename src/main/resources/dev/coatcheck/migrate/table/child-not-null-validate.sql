-- Step "child-not-null", second transaction: the server looks at all rows.
-- Locks: the child in share update exclusive mode while it is scanned; writers go on.

alter table <child> validate constraint <ref_filled>;
