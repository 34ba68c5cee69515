package dev.coatcheck.migrate.steps;

/**
 * Gives the functions that write to the table to the table's owner, as whom they run. A member of
 * the owner may do that if the owner may create functions in our schema, so that right is given for
 * the time of it.
 */
final class Ownership {
  private static final String FUNCTIONS = "array[<fill_text>, <on_reused_text>]";

  /** Also where the table has got another owner meanwhile. */
  static final String GIVE =
      """
      do <body>
      declare
        owner name := (select pg_get_userbyid(relowner) from pg_class where oid = <oid>);
        may_create boolean := has_schema_privilege(owner, '<schema>', 'create');
        signature text;
      begin
        execute format('grant usage on schema <schema> to %I', owner);
        execute format('grant select on %s to %I', <archive_text>::regclass, owner);
        if not may_create then
          execute format('grant create on schema <schema> to %I', owner);
        end if;
        foreach signature in array <functions> loop
          execute format('alter function %s owner to %I', signature::regprocedure, owner);
        end loop;
        if not may_create then
          execute format('revoke create on schema <schema> from %I', owner);
        end if;
      end <body>\
      """
          .replace("<functions>", FUNCTIONS);

  /** What the owner was given, unless it is ours anyway or serves another table too. */
  static final String TAKE_BACK =
      """
      do <body>
      declare
        owner name := (select pg_get_userbyid(relowner) from pg_class where oid = <oid>);
        ours oid := '<schema>'::regnamespace;
      begin
        if not pg_has_role(owner, (select nspowner from pg_namespace where oid = ours), 'usage') then
          execute format('revoke select on %s from %I', <archive_text>::regclass, owner);
          if not exists (select from pg_proc
                          where pronamespace = ours and pg_get_userbyid(proowner) = owner) then
            execute format('revoke usage on schema <schema> from %I', owner);
          end if;
        end if;
      end <body>\
      """;

  private Ownership() {}
}
