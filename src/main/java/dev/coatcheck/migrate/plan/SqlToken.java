package dev.coatcheck.migrate.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A word of a SQL text.
 *
 * @param text of a name as the catalog has it, of a string what stands between its quotes
 * @param start where it begins in the SQL text, and {@code end} where it has ended
 */
record SqlToken(Kind kind, String text, int start, int end) {
  private static final SqlToken NONE = new SqlToken(Kind.SYMBOL, "", 0, 0);

  enum Kind {
    /** A keyword, or a name without quotes; in lower case. */
    WORD,
    /** A name in double quotes, or one that {@code format()} would put there. */
    QUOTED,
    STRING,
    /** {@code $1}. */
    PARAMETER,
    NUMBER,
    SYMBOL
  }

  boolean is(String word) {
    return kind == Kind.WORD && text.equals(word);
  }

  boolean isSymbol(String symbol) {
    return kind == Kind.SYMBOL && text.equals(symbol);
  }

  boolean isName() {
    return kind == Kind.WORD || kind == Kind.QUOTED;
  }

  /** The token at an index; beyond both ends a symbol that equals no other. */
  static SqlToken at(List<SqlToken> tokens, int index) {
    return index >= 0 && index < tokens.size() ? tokens.get(index) : NONE;
  }

  /** The words of a text, without white space and comments. In one pass, whatever the text is. */
  static List<SqlToken> of(String sql) {
    return new Lexer(sql).tokens();
  }

  private static final class Lexer {
    private static final String FORMATS = "IsL";

    private final String sql;
    private final List<SqlToken> tokens = new ArrayList<>();
    private int at;

    private Lexer(String sql) {
      this.sql = sql;
    }

    private List<SqlToken> tokens() {
      while (at < sql.length()) {
        next();
      }
      return tokens;
    }

    private void next() {
      char c = sql.charAt(at);
      if (Character.isWhitespace(c)) {
        at++;
      } else if (sql.startsWith("--", at)) {
        int end = sql.indexOf('\n', at);
        at = end < 0 ? sql.length() : end;
      } else if (sql.startsWith("/*", at)) {
        comment();
      } else if (c == '\'') {
        quoted(Kind.STRING, '\'', false);
      } else if (c == '"') {
        quoted(Kind.QUOTED, '"', false);
      } else if (c == '$') {
        dollar();
      } else if (Character.isLetter(c) || c == '_') {
        word();
      } else if (Character.isDigit(c)) {
        int end = endOf(at);
        add(Kind.NUMBER, sql.substring(at, end), end);
      } else if (c == '%' && at + 1 < sql.length() && FORMATS.indexOf(sql.charAt(at + 1)) >= 0) {
        add(Kind.QUOTED, sql.substring(at, at + 2), at + 2);
      } else {
        boolean isDouble = sql.startsWith("::", at) || sql.startsWith(":=", at);
        int end = at + (isDouble ? 2 : 1);
        add(Kind.SYMBOL, sql.substring(at, end), end);
      }
    }

    private void add(Kind kind, String text, int end) {
      tokens.add(new SqlToken(kind, text, at, end));
      at = end;
    }

    private void word() {
      int end = endOf(at);
      boolean isEscaped =
          end == at + 1 && (sql.charAt(at) | 0x20) == 'e' && sql.startsWith("'", end);
      if (isEscaped) {
        at++;
        quoted(Kind.STRING, '\'', true);
      } else {
        add(Kind.WORD, sql.substring(at, end).toLowerCase(Locale.ROOT), end);
      }
    }

    private int endOf(int start) {
      int end = start;
      while (end < sql.length() && isPart(sql.charAt(end))) {
        end++;
      }
      return end;
    }

    private static boolean isPart(char c) {
      return Character.isLetterOrDigit(c) || c == '_' || c == '$';
    }

    private void quoted(Kind kind, char quote, boolean isEscaped) {
      StringBuilder text = new StringBuilder();
      int i = at + 1;
      for (; i < sql.length(); i++) {
        char c = sql.charAt(i);
        if (c == quote) {
          if (i + 1 == sql.length() || sql.charAt(i + 1) != quote) {
            break;
          }
          i++;
        } else if (isEscaped && c == '\\') {
          i++;
        }
        if (i < sql.length()) {
          text.append(sql.charAt(i));
        }
      }
      add(kind, text.toString(), Math.min(sql.length(), i + 1));
    }

    /** A parameter, or a string between {@code $tag$} and {@code $tag$}. */
    private void dollar() {
      int end = at + 1;
      while (end < sql.length() && isPart(sql.charAt(end)) && sql.charAt(end) != '$') {
        end++;
      }
      boolean isParameter = end > at + 1 && Character.isDigit(sql.charAt(at + 1));
      if (isParameter) {
        add(Kind.PARAMETER, sql.substring(at, end), end);
      } else if (end < sql.length() && sql.charAt(end) == '$') {
        String tag = sql.substring(at, end + 1);
        int close = sql.indexOf(tag, end + 1);
        int last = close < 0 ? sql.length() : close;
        add(Kind.STRING, sql.substring(end + 1, last), close < 0 ? last : close + tag.length());
      } else {
        add(Kind.SYMBOL, "$", at + 1);
      }
    }

    /** Comments nest. */
    private void comment() {
      int depth = 0;
      do {
        if (sql.startsWith("/*", at)) {
          depth++;
          at += 2;
        } else if (sql.startsWith("*/", at)) {
          depth--;
          at += 2;
        } else {
          at++;
        }
      } while (depth > 0 && at < sql.length());
    }
  }
}
