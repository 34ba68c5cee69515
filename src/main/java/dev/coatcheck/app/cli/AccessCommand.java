package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck access}: creates, lists and revokes API keys, directly in the database. */
@Command(name = "access", description = "Creates, lists and revokes API keys.")
final class AccessCommand {
  @Spec private CommandSpec spec;

  @Command(
      name = "create",
      description = "Creates an API key and prints it, only once.",
      footer = "  coatcheck access create --name edge --scope ids:read")
  int create(
      @Mixin Settings settings,
      @Mixin Output output,
      @Option(
              names = "--name",
              required = true,
              description = "Name of the program or person that uses the key.")
          String name,
      @Option(
              names = "--scope",
              required = true,
              split = ",",
              description = "Scopes of the key: * for all, or some of ${COMPLETION-CANDIDATES}.",
              completionCandidates = ScopeNames.class)
          List<String> scopes,
      @Option(
              names = "--same-principal",
              description =
                  "Share the principal of the live keys with this name, and so their client IDs"
                      + " and stored answers. Default: a new principal.")
          boolean samePrincipal,
      @Option(names = "--valid-days", description = "Days until the key expires. Default: never.")
          @Nullable Integer validDays)
      throws CommandFailed {
    if (name.isBlank() || name.length() > 100) {
      throw new Misused("--name must have 1 to 100 characters.");
    }
    if (validDays != null && (validDays < 1 || validDays > 3_650)) {
      throw new Misused("--valid-days must be 1 to 3650.");
    }
    Set<Scope> wanted = scopes(scopes);
    Optional<Duration> validFor = Optional.ofNullable(validDays).map(Duration::ofDays);
    Access.Issued issued =
        switch (withAccess(
            settings, access -> access.create(name, wanted, validFor, samePrincipal))) {
          case Access.Created.Made(Access.Issued made) -> made;
          case Access.Created.NoSuchPrincipal _ ->
              throw new CommandFailed(
                  "no live key has this name, so there is no principal to share. Leave out"
                      + " --same-principal.");
          case Access.Created.SeveralPrincipals(List<String> keyIds) ->
              throw new CommandFailed(
                  "the live keys with this name have different principals. First revoke all but"
                      + " one: "
                      + String.join(", ", keyIds));
        };
    output.print(
        Output.object(
            Map.of(
                "key", issued.key().secretText(),
                "key_id", issued.key().id(),
                "principal", issued.stored().principal())),
        issued.key().secretText());
    PrintWriter err = spec.commandLine().getErr();
    if (!issued.stored().principal().equals(name)) {
      err.println(
          "Another live key has this name, so the principal of the new key is "
              + issued.stored().principal()
              + ".");
    }
    err.println(
        "The API key is shown only now. To revoke it: coatcheck access revoke "
            + issued.key().id());
    return 0;
  }

  @Command(
      name = "list",
      description = "Lists the API keys. Their secrets are not stored.",
      footer = "  coatcheck access list")
  int list(@Mixin Settings settings, @Mixin Output output) throws CommandFailed {
    output.rows(
        withAccess(settings, Access::list).stream().map(AccessCommand::shown).toList(),
        "key_id",
        "status",
        "created_at",
        "scopes",
        "name");
    return 0;
  }

  private static JsonNode shown(StoredKey key) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("key_id", key.keyId());
    fields.put("name", key.name());
    fields.put("principal", key.principal());
    fields.put("status", key.revokedAt().isPresent() ? "revoked" : "active");
    fields.put("created_at", key.createdAt().toString());
    fields.put(
        "scopes", key.rights().scopes().stream().map(AccessCommand::shown).sorted().toList());
    return Output.object(fields);
  }

  /** A key of another version may have a scope that this version doesn't know. */
  private static String shown(Scope scope) {
    return Scope.KNOWN.contains(scope) ? scope.name() : scope.name() + " (unknown)";
  }

  @Command(
      name = "revoke",
      description = "Revokes an API key for good.",
      footer = "  coatcheck access revoke 4KIWSf8WvPNo")
  int revoke(
      @Mixin Settings settings,
      @Mixin Output output,
      @Parameters(paramLabel = "KEY_ID", description = "ID of the key, as list prints it.")
          String keyId)
      throws CommandFailed {
    if (!withAccess(settings, access -> access.revoke(keyId))) {
      throw new CommandFailed("no active key has this ID; coatcheck access list shows the keys.");
    }
    output.print(Output.object(Map.of("key_id", keyId, "status", "revoked")), "revoked " + keyId);
    return 0;
  }

  /** The scopes that a key can have. */
  static final class ScopeNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Scope.KNOWN.stream().map(Scope::name).iterator();
    }
  }

  private static <T> T withAccess(Settings settings, Function<Access, T> work)
      throws CommandFailed {
    Observer observer = new Observer();
    try (OpenDatabase opened = OpenDatabase.openBeside(settings.config(), observer)) {
      return work.apply(
          new Access(
              opened.database(),
              Access.Trust.none(),
              new RandomSource(),
              observer,
              InstantSource.system()));
    } catch (StartFailed failed) {
      throw new CommandFailed(String.valueOf(failed.getMessage()));
    }
  }

  private static Set<Scope> scopes(List<String> names) throws CommandFailed {
    Set<Scope> scopes = new LinkedHashSet<>();
    for (String name : names) {
      scopes.add(
          Scope.named(name)
              .orElseThrow(
                  () ->
                      new Misused(
                          "no scope has the name "
                              + name
                              + ". The scopes are "
                              + String.join(", ", new ScopeNames())
                              + ".")));
    }
    return scopes;
  }
}
