package dev.coatcheck.api.console.page;

import dev.coatcheck.ids.access.Scope;

/** The parts of the console that its bar names, in that order. */
public enum Section {
  FIND("Find", "/console"),
  OVERVIEW("Overview", "/console/overview"),
  AUDIT("Audit", "/console/audit");

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

  /** What an API key needs, or the section is not offered and its pages are refused. */
  public Scope needed() {
    return switch (this) {
      case FIND -> Scope.IDS_READ;
      case OVERVIEW -> Scope.METRICS_READ;
      case AUDIT -> Scope.AUDIT_READ;
    };
  }
}
