package dev.coatcheck.api.console.page;

import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import java.util.Arrays;
import java.util.Optional;

/** The parts of the console that its bar names, in that order. */
public enum Section {
  FIND("Find", "/console"),
  OVERVIEW("Overview", "/console/overview"),
  TYPES("Types", "/console/types"),
  MIGRATIONS("Table migrations", "/console/migrations"),
  LEGACY("Legacy traffic", "/console/legacy"),
  KEYS("API keys", "/console/keys"),
  AUDIT("Audit", "/console/audit"),
  LINKS("Links", "/console/links");

  private final String label;
  private final String path;

  Section(String label, String path) {
    this.label = label;
    this.path = path;
  }

  public String label() {
    return label;
  }

  /** Of its first page. */
  public String path() {
    return path;
  }

  /** Whether a person with these rights may see it. */
  public boolean isFor(Rights rights) {
    boolean isOfAllTypes =
        switch (this) {
          case OVERVIEW, AUDIT -> true;
          case FIND, TYPES, MIGRATIONS, LEGACY, KEYS, LINKS -> false;
        };
    return rights.may(needed()) && (!isOfAllTypes || rights.allowedTypes().areAll());
  }

  /** What a person with these rights sees first; empty if there is nothing. */
  public static Optional<Section> first(Rights rights) {
    return Arrays.stream(values()).filter(section -> section.isFor(rights)).findFirst();
  }

  /** What an API key needs, or the section is not offered and its pages are refused. */
  public Scope needed() {
    return switch (this) {
      case FIND, LINKS -> Scope.IDS_READ;
      case OVERVIEW -> Scope.METRICS_READ;
      case AUDIT -> Scope.AUDIT_READ;
      case TYPES, LEGACY -> Scope.TYPES_READ;
      case MIGRATIONS -> Scope.TABLE_MIGRATIONS_READ;
      case KEYS -> Scope.ACCESS_ADMIN;
    };
  }
}
