package dev.coatcheck.app.boot;

import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Reads the sources of table migrations, three variables each: {@code
 * COATCHECK_SOURCE_SHOP_DB_URL}, {@code …_USER} and {@code …_PASSWORD} are the source {@code
 * shop_db}. They are not flags, because their number is not fixed and every user of the machine can
 * read flags.
 */
final class RegisteredSources {
  private static final String START = "COATCHECK_SOURCE_";
  private static final String URL = "_URL";
  private static final String USER = "_USER";
  private static final String PASSWORD = "_PASSWORD";
  private static final Set<String> ENDINGS = Set.of(URL, USER, PASSWORD);
  private static final Pattern NAME = Pattern.compile("[A-Z][A-Z0-9_]{0,30}");

  private final Map<String, String> environment;
  private final List<String> faults;

  private RegisteredSources(Map<String, String> environment, List<String> faults) {
    this.environment = environment;
    this.faults = faults;
  }

  /** The sources by name. Adds all faults to the list. */
  static Map<String, DatabaseSettings> read(Map<String, String> environment, List<String> faults) {
    return new RegisteredSources(environment, faults).sources();
  }

  private Map<String, DatabaseSettings> sources() {
    Map<String, DatabaseSettings> sources = new TreeMap<>();
    for (String name : names()) {
      String start = START + name;
      Optional<String> url = value(start + URL);
      if (url.isEmpty()) {
        faultIfSet(start + USER, "is set, but " + start + URL + " is not");
        faultIfSet(start + PASSWORD, "is set, but " + start + URL + " is not");
        continue;
      }
      DatabaseUrl.fault(url.get(), start + PASSWORD)
          .ifPresent(what -> faults.add(start + URL + " " + what));
      Optional<String> user = value(start + USER);
      if (user.isEmpty()) {
        faults.add(start + USER + " is needed beside " + start + URL);
      }
      sources.put(
          name.toLowerCase(Locale.ROOT),
          new DatabaseSettings(
              url.get(),
              user.orElse(""),
              value(start + PASSWORD).orElse(""),
              Sources.CONNECTIONS_MAX));
    }
    return Map.copyOf(sources);
  }

  /** The well-formed names. */
  private Set<String> names() {
    Set<String> names = new TreeSet<>();
    for (String variable : new TreeSet<>(environment.keySet())) {
      if (!variable.startsWith(START) || value(variable).isEmpty()) {
        continue;
      }
      int end = variable.lastIndexOf('_');
      String name = end < START.length() ? "" : variable.substring(START.length(), end);
      if (!ENDINGS.contains(variable.substring(end))) {
        faults.add(variable + " must end in _URL, _USER or _PASSWORD");
      } else if (!NAME.matcher(name).matches()) {
        faults.add(
            "%s has an invalid source name: use 1 to 31 of A-Z, 0-9 and _, starting with a letter"
                .formatted(variable));
      } else if (name.toLowerCase(Locale.ROOT).equals(Sources.GATEWAY)) {
        faults.add(
            variable + ": gateway is the name of the gateway's own database; choose another name");
      } else {
        names.add(name);
      }
    }
    return names;
  }

  /** An empty variable counts as unset, as for all settings. */
  private Optional<String> value(String variable) {
    return Optional.ofNullable(environment.get(variable)).filter(text -> !text.isEmpty());
  }

  private void faultIfSet(String variable, String what) {
    if (value(variable).isPresent()) {
      faults.add(variable + " " + what);
    }
  }
}
