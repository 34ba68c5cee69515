package dev.coatcheck.app.cli;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.NewKey;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/**
 * {@code coatcheck access}: creates, lists, changes, rotates and revokes API keys, directly in the
 * database. Who has its password may do all that.
 */
@Command(
    name = "access",
    addMethodSubcommands = false,
    description = "Creates, lists, changes, rotates and revokes API keys.")
final class AccessCommand {
  private static final int PAGE = 1_000;
  private static final String KEY_ID = "ID of the key, as list prints it.";

  @Command(
      name = "create",
      description = "Creates an API key and prints it, only once.",
      footer = "  coatcheck access create --name edge --scope ids:read")
  void create(
      @Mixin Settings settings,
      @Mixin Output output,
      @Option(
              names = "--name",
              paramLabel = "NAME",
              required = true,
              description = "Name of the program or person that uses the key.")
          String name,
      @Option(
              names = "--scope",
              paramLabel = "SCOPE",
              required = true,
              split = ",",
              description = "Scopes of the key: * for all, or some of ${COMPLETION-CANDIDATES}.",
              completionCandidates = RightsFlags.ScopeNames.class)
          List<String> scopes,
      @Mixin RightsFlags flags,
      @Option(
              names = "--same-principal",
              description =
                  "Share the principal of the live keys with this name, and so their client IDs"
                      + " and stored answers. Default: a new principal.")
          boolean samePrincipal)
      throws CommandFailed, StartFailed {
    if (!NewKey.isName(name)) {
      throw new Misused("--name must have 1 to 100 characters.");
    }
    Rights rights = flags.over(Rights.of(Set.of()), scopes);
    Config config = settings.config();
    boolean isFirst = config.database().isEmpty() && !EmbeddedDatabase.isIn(config.home());
    Issued issued;
    try (OpenDatabase opened = OpenDatabase.openBeside(config, new Observer())) {
      ApiKeys keys = keys(opened);
      Optional<String> principal =
          samePrincipal ? Optional.of(sharedPrincipal(keys, name)) : Optional.empty();
      issued =
          issued(
              keys.create(
                  new NewKey(name, principal, flags.expiring(rights, keys)), Actor.operator()));
    }
    if (isFirst) {
      output.note("There was no embedded database in " + config.home() + ", so one was made.");
    }
    String principal = issued.key().principal();
    if (!principal.equals(name)) {
      output.note(
          "Another key has or had this name, so the principal of the new key is %s."
              .formatted(principal));
    }
    printSecret(output, issued);
  }

  private static String sharedPrincipal(ApiKeys keys, String name) throws CommandFailed {
    List<StoredKey> live = keys.liveNamed(name);
    List<String> principals = live.stream().map(StoredKey::principal).distinct().toList();
    if (principals.isEmpty()) {
      throw new CommandFailed(
          "no live key has this name, so there is no principal to share. Leave out"
              + " --same-principal.");
    }
    if (principals.size() > 1) {
      throw new CommandFailed(
          "the live keys with this name have different principals. First revoke all but one: "
              + String.join(", ", live.stream().map(key -> ApiKey.shown(key.keyId())).toList()));
    }
    return principals.getFirst();
  }

  @Command(
      name = "list",
      description = "Lists the API keys, the oldest first. Their secrets are not stored.",
      footer = "  coatcheck access list --status active")
  void list(
      @Mixin Settings settings,
      @Mixin Output output,
      @Option(
              names = "--principal",
              paramLabel = "PRINCIPAL",
              description = "Only the keys of this principal.")
          @Nullable String principal,
      @Option(
              names = "--status",
              paramLabel = "STATUS",
              description = "Only keys of this status: ${COMPLETION-CANDIDATES}.",
              completionCandidates = Statuses.class)
          @Nullable String status)
      throws CommandFailed, StartFailed {
    Optional<StoredKey.Status> wanted =
        status == null
            ? Optional.empty()
            : Optional.of(
                WireNamed.find(StoredKey.Status.class, status)
                    .orElseThrow(
                        () -> new Misused("--status must be active, expired or revoked.")));
    output.rows(
        withKeys(settings, keys -> all(keys, Optional.ofNullable(principal), wanted)),
        "id",
        "status",
        "created_at",
        "scopes",
        "name");
  }

  private static List<JsonNode> all(
      ApiKeys keys, Optional<String> principal, Optional<StoredKey.Status> status) {
    List<JsonNode> all = new ArrayList<>();
    Optional<String> after = Optional.empty();
    do {
      List<ApiKeys.Listed> page =
          keys.list(new ApiKeys.Filter(AllowedTypes.ALL, principal, status, after, PAGE));
      page.stream().limit(PAGE).map(AccessCommand::shown).forEach(all::add);
      after = page.size() > PAGE ? Optional.of(page.get(PAGE - 1).key().keyId()) : Optional.empty();
    } while (after.isPresent());
    return all;
  }

  @Command(
      name = "show",
      description = "Shows an API key without its secret, which is not stored.",
      footer = "  coatcheck access show key_4KIWSf8WvPN0")
  void show(
      @Mixin Settings settings,
      @Mixin Output output,
      @Parameters(paramLabel = "KEY_ID", description = KEY_ID) String keyId)
      throws CommandFailed, StartFailed {
    output.fields(withKeys(settings, keys -> shown(keys, id(keyId))));
  }

  @Command(
      name = "patch",
      description = "Changes the name or the rights of an API key. What is left out stays.",
      footer = "  coatcheck access patch key_4KIWSf8WvPN0 --range 10.0.0.0/8")
  void patch(
      @Mixin Settings settings,
      @Mixin Output output,
      @Parameters(paramLabel = "KEY_ID", description = KEY_ID) String keyId,
      @Option(names = "--name", paramLabel = "NAME", description = "Another name.")
          @Nullable String name,
      @Option(
              names = "--scope",
              paramLabel = "SCOPE",
              split = ",",
              description = "All scopes of the key: some of ${COMPLETION-CANDIDATES}.",
              completionCandidates = RightsFlags.ScopeNames.class)
          @Nullable List<String> scopes,
      @Mixin RightsFlags flags,
      @Option(
              names = "--clear",
              paramLabel = "FIELD",
              split = ",",
              description = "What to limit no longer: ${COMPLETION-CANDIDATES}.",
              completionCandidates = Clearable.class)
          @Nullable List<String> cleared)
      throws CommandFailed, StartFailed {
    if (name != null && !NewKey.isName(name)) {
      throw new Misused("--name must have 1 to 100 characters.");
    }
    List<String> clear = cleared == null ? List.of() : cleared;
    if (!Clearable.ALL.containsAll(clear)) {
      throw new Misused("--clear takes " + String.join(", ", Clearable.ALL) + ".");
    }
    flags.refuseToClear(clear);
    String id = id(keyId);
    output.fields(
        withKeys(
            settings,
            keys -> {
              StoredKey before = keys.find(id).orElseThrow(AccessCommand::unknown).key();
              Rights rights = flags.over(without(clear, before.rights()), scopes);
              ApiKeys.Patch patch =
                  new ApiKeys.Patch(
                      name == null ? before.name() : name, flags.expiring(rights, keys));
              OptionalInt version = OptionalInt.of(before.version());
              return switch (keys.patch(id, _ -> patch, version, Actor.operator())) {
                case KeyOutcome.Patched _ -> shown(keys, id);
                case KeyOutcome other -> throw failure(other);
              };
            }));
  }

  private static Rights without(List<String> cleared, Rights rights) {
    return new Rights(
        rights.scopes(),
        rights.types().filter(_ -> !cleared.contains("types")),
        rights.ranges().filter(_ -> !cleared.contains("ranges")),
        rights.limit().filter(_ -> !cleared.contains("limit")),
        rights.leaseMax().filter(_ -> !cleared.contains("lease-max")),
        rights.expiresAt().filter(_ -> !cleared.contains("expiry")));
  }

  @Command(
      name = "rotate",
      description =
          "Makes a key with the same name, principal and rights, and prints it, only once. The old"
              + " key ends after the overlap.",
      footer = "  coatcheck access rotate key_4KIWSf8WvPN0 --overlap-seconds 86400")
  void rotate(
      @Mixin Settings settings,
      @Mixin Output output,
      @Parameters(paramLabel = "KEY_ID", description = KEY_ID) String keyId,
      @Option(
              names = "--overlap-seconds",
              paramLabel = "SECONDS",
              required = true,
              description = "How long the old key still works: 0 to 2592000.")
          int overlapSeconds,
      @Option(
              names = "--expires",
              paramLabel = "TIME",
              description = "When the new key expires. Default: when the old key would have.")
          @Nullable Instant expires)
      throws CommandFailed, StartFailed {
    long secondsMax = ApiKeys.Rotation.OVERLAP_MAX.toSeconds();
    if (overlapSeconds < 0 || overlapSeconds > secondsMax) {
      throw new Misused("--overlap-seconds must be 0 to " + secondsMax + ".");
    }
    ApiKeys.Rotation rotation =
        new ApiKeys.Rotation(Duration.ofSeconds(overlapSeconds), Optional.ofNullable(expires));
    String id = id(keyId);
    printSecret(
        output, withKeys(settings, keys -> issued(keys.rotate(id, rotation, Actor.operator()))));
  }

  @Command(
      name = "revoke",
      description = "Revokes an API key for good, and the successors that it made by rotation.",
      footer = "  coatcheck access revoke key_4KIWSf8WvPN0")
  void revoke(
      @Mixin Settings settings,
      @Mixin Output output,
      @Parameters(paramLabel = "KEY_ID", description = KEY_ID) String keyId,
      @Option(names = "--keep-successors", description = "End only the key itself.")
          boolean keepsSuccessors)
      throws CommandFailed, StartFailed {
    String id = id(keyId);
    int successors =
        withKeys(
            settings,
            keys ->
                switch (keys.revoke(id, keepsSuccessors, Actor.operator())) {
                  case KeyOutcome.Revoked(_, int ended) -> ended;
                  case KeyOutcome other -> throw failure(other);
                });
    String shown = ApiKey.shown(id);
    output.print(
        Map.of("id", shown, "status", "revoked", "successors", successors),
        "revoked " + shown + (successors == 0 ? "" : " and " + successors + " successors"));
  }

  /** A new key and its text. */
  private record Issued(StoredKey key, String secret, JsonNode shown) {}

  private static Issued issued(KeyOutcome outcome) throws CommandFailed {
    return switch (outcome) {
      case KeyOutcome.Made(ApiKey key, StoredKey stored) -> {
        Map<String, @Nullable Object> fields = ApiKeys.json(ApiKeys.Listed.made(stored));
        fields.put("secret", key.secretText());
        yield new Issued(stored, key.secretText(), Output.object(fields));
      }
      case KeyOutcome other -> throw failure(other);
    };
  }

  /** The key ID comes first: who loses the secret, by a full disk, can still revoke the key. */
  private void printSecret(Output output, Issued issued) throws CommandFailed {
    output.note(
        "The API key is shown only now. To revoke it: coatcheck access revoke "
            + ApiKey.shown(issued.key().keyId()));
    output.print(issued.shown(), issued.secret());
  }

  /** What the database refuses a command; it may do all that a key with all rights may. */
  private static CommandFailed failure(KeyOutcome outcome) {
    return switch (outcome) {
      case KeyOutcome.Unknown _ -> unknown();
      case KeyOutcome.TypeUnknown _ ->
          new CommandFailed(
              "no type has the name of --type; coatcheck types list shows the types.");
      case KeyOutcome.ExpiryPassed _ ->
          new CommandFailed("the time of --expires has passed. Send a later one.");
      case KeyOutcome.Ended _ ->
          new CommandFailed("the key was revoked or has expired, for good. Create another one.");
      case KeyOutcome.AlreadyRotated _ ->
          new CommandFailed("the key was rotated before. Rotate its successor.");
      case KeyOutcome.VersionDiffers _ ->
          new CommandFailed("the key has changed meanwhile. Run the command again.");
      case KeyOutcome.Made _,
          KeyOutcome.MadeBefore _,
          KeyOutcome.Patched _,
          KeyOutcome.Revoked _,
          KeyOutcome.CallerEnded _,
          KeyOutcome.CallerLacksScope _,
          KeyOutcome.BeyondCaller _,
          KeyOutcome.PrincipalTaken _ ->
          throw new IllegalStateException(outcome.toString());
    };
  }

  private static CommandFailed unknown() {
    return new CommandFailed("no key has this ID; coatcheck access list shows the keys.");
  }

  /** Without the prefix too, as the text of a key has it. */
  private static String id(String text) throws CommandFailed {
    return ApiKey.idOf(text)
        .or(() -> ApiKey.idOf(ApiKey.shown(text)))
        .orElseThrow(AccessCommand::unknown);
  }

  private static JsonNode shown(ApiKeys keys, String keyId) throws CommandFailed {
    return shown(keys.find(keyId).orElseThrow(AccessCommand::unknown));
  }

  /** A key of another version may have a scope that this version doesn't know. */
  private static JsonNode shown(ApiKeys.Listed listed) {
    Map<String, @Nullable Object> fields = ApiKeys.json(listed);
    fields.put(
        "scopes",
        listed.key().rights().scopes().stream()
            .map(scope -> scope.name() + (Scope.KNOWN.contains(scope) ? "" : " (unknown)"))
            .sorted()
            .toList());
    return Output.object(fields);
  }

  /** What a key can be limited to, apart from its scopes. */
  static final class Clearable implements Iterable<String> {
    static final List<String> ALL = List.of("types", "ranges", "limit", "lease-max", "expiry");

    @Override
    public Iterator<String> iterator() {
      return ALL.iterator();
    }
  }

  static final class Statuses implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Arrays.stream(StoredKey.Status.values()).map(WireNamed::wireName).iterator();
    }
  }

  @FunctionalInterface
  private interface Work<T> {
    T with(ApiKeys keys) throws CommandFailed;
  }

  private static <T> T withKeys(Settings settings, Work<T> work) throws CommandFailed, StartFailed {
    try (OpenDatabase opened = OpenDatabase.openExisting(settings.config(), new Observer())) {
      return work.with(keys(opened));
    }
  }

  private static ApiKeys keys(OpenDatabase opened) {
    return new ApiKeys(opened.database(), _ -> {}, Optional.empty(), new RandomSource());
  }
}
