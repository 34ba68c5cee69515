package dev.coatcheck.api.console.page;

import dev.coatcheck.ids.access.Scope;

/** The parts of the console that its bar names, in that order. */
public enum Section {
  FIND("Find", "/console", Scope.IDS_READ),
  OVERVIEW("Overview", "/console/overview", Scope.METRICS_READ),
  TYPES("Types", "/console/types", Scope.TYPES_READ),
  MIGRATIONS("Table migrations", "/console/migrations", Scope.TABLE_MIGRATIONS_READ),
  LEGACY("Legacy traffic", "/console/legacy", Scope.TYPES_READ),
  KEYS("API keys", "/console/keys", Scope.ACCESS_ADMIN),
  AUDIT("Audit", "/console/audit", Scope.AUDIT_READ),
  LINKS("Links", "/console/links", Scope.IDS_READ);

  private final String label;
  private final String path;
  private final Scope needed;

  Section(String label, String path, Scope needed) {
    this.label = label;
    this.path = path;
    this.needed = needed;
  }

  public String label() {
    return label;
  }

  /** Of its first page. */
  public String path() {
    return path;
  }

  /** What an API key needs, or the section is not offered and its pages are refused. */
  public Scope needed() {
    return needed;
  }
}
