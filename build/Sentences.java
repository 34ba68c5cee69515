import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Lists every sentence that a user can read, as {@code FILE:LINE: SENTENCE}: {@code java
 * build/Sentences.java [ROOT]}. The sentences are the string literals of the program that hold
 * words, the texts of the contract and of the console's pages, and the documents in prose, sentence
 * by sentence: README and its neighbours, and everything below docs. Read the list from top to
 * bottom: docs/words.md says which words it uses.
 */
public class Sentences {
  private static final Pattern WORDS =
      Pattern.compile("[a-z]{2,},? [a-z0-9]", Pattern.CASE_INSENSITIVE);

  /** Statements, and what is put into them. */
  private static final Pattern SQL =
      Pattern.compile(
          "(?is)\\s*[,(]*\\s*(select|insert|update|delete|create|alter|drop|with|lock|set|reset|from|where"
              + "|and|or|comment|copy|do|for|if|case|exists|grant|revoke|returning|perform|declare"
              + "|truncate|listen|begin|rested|free|union|unnest|tablesample)\\b.*");

  private static final Pattern CONTRACT =
      Pattern.compile("(\\s*)(?:- )?(summary|description|title|detail|meaning|next): *(.*)");

  /** In a document: a heading, or an item of a list. */
  private static final Pattern BLOCK_START = Pattern.compile("^\\s*([-*]|\\d+\\.|#+) ");

  private static final Pattern SENTENCE_END =
      Pattern.compile("(?<=[.!?][*)]{0,2})\\s+(?=\\W*\\p{Lu}|`)");

  private static final Pattern BLOCK = Pattern.compile("[>|][-+]?");

  public static void main(String[] args) throws IOException {
    Path root = Path.of(args.length == 0 ? "." : args[0]).toAbsolutePath().normalize();
    javaFiles(root);
    contract(root.resolve("openapi/coatcheck.yaml"));
    templates(root);
    for (Path document : documents(root)) {
      document(root, document);
    }
  }

  private static void javaFiles(Path root) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        Stream<Path> sources = Files.walk(root.resolve("src/main/java"))) {
      List<Path> paths =
          sources.filter(path -> path.toString().endsWith(".java")).sorted().toList();
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null, files, null, null, null, files.getJavaFileObjectsFromPaths(paths));
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        new Literals(root.relativize(Path.of(unit.getSourceFile().toUri())), unit, positions)
            .scan(unit, null);
      }
    }
  }

  /** Joins what is added together; {@code …} stands for what is no literal. */
  private static final class Literals extends TreeScanner<Void, Void> {
    private final Path file;
    private final CompilationUnitTree unit;
    private final SourcePositions positions;

    Literals(Path file, CompilationUnitTree unit, SourcePositions positions) {
      this.file = file;
      this.unit = unit;
      this.positions = positions;
    }

    @Override
    public Void visitAnnotation(AnnotationTree annotation, Void nothing) {
      return annotation.getAnnotationType().toString().matches("Command|Option|Parameters")
          ? super.visitAnnotation(annotation, nothing)
          : null;
    }

    @Override
    public Void visitBinary(BinaryTree binary, Void nothing) {
      String text = joined(binary);
      if (binary.getKind() != Tree.Kind.PLUS || text.replace("…", "").isBlank()) {
        return super.visitBinary(binary, nothing);
      }
      print(binary, text);
      return null;
    }

    @Override
    public Void visitLiteral(LiteralTree literal, Void nothing) {
      if (literal.getValue() instanceof String text) {
        print(literal, text);
      }
      return null;
    }

    private static String joined(ExpressionTree tree) {
      return switch (tree) {
        case BinaryTree binary when binary.getKind() == Tree.Kind.PLUS ->
            joined(binary.getLeftOperand()) + joined(binary.getRightOperand());
        case ParenthesizedTree inner -> joined(inner.getExpression());
        case ConditionalExpressionTree choice ->
            "{"
                + joined(choice.getTrueExpression())
                + "|"
                + joined(choice.getFalseExpression())
                + "}";
        case LiteralTree literal when literal.getValue() instanceof String text -> text;
        default -> "…";
      };
    }

    private void print(Tree tree, String text) {
      if (!SQL.matcher(text).matches()) {
        long line = unit.getLineMap().getLineNumber(positions.getStartPosition(unit, tree));
        Sentences.print(file.toString(), line, text);
      }
    }
  }

  private static void contract(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      Matcher field = CONTRACT.matcher(lines.get(i));
      if (!field.matches()) {
        continue;
      }
      int at = i;
      StringBuilder text = new StringBuilder(field.group(3));
      if (BLOCK.matcher(text).matches()) {
        text.setLength(0);
        int indent = field.group(1).length();
        while (i + 1 < lines.size()
            && (lines.get(i + 1).isBlank() || indent(lines.get(i + 1)) > indent)) {
          text.append(lines.get(++i).strip()).append(' ');
        }
      }
      print("openapi/coatcheck.yaml", at + 1, text.toString());
    }
  }

  private static int indent(String line) {
    return line.length() - line.stripLeading().length();
  }

  /** The texts of the console's pages, without tags and expressions. */
  private static void templates(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root.resolve("src/main/jte"))) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
          if (!lines.get(i).matches("@(import|param|template).*")) {
            print(
                root.relativize(file).toString(),
                i + 1,
                lines.get(i).replaceAll("<[^>]*>|\\$\\{[^}]*}|@\\w+(\\([^<]*\\))?", " "));
          }
        }
      }
    }
  }

  private static List<Path> documents(Path root) throws IOException {
    List<Path> documents = new ArrayList<>();
    try (Stream<Path> top = Files.list(root);
        Stream<Path> docs = Files.walk(root.resolve("docs"))) {
      Stream.concat(top, docs)
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .forEach(documents::add);
    }
    return documents;
  }

  /** Prose without code blocks; the tables of docs/words.md are about words, not sentences. */
  private static void document(Path root, Path document) throws IOException {
    String file = root.relativize(document).toString();
    List<String> lines = Files.readAllLines(document);
    StringBuilder paragraph = new StringBuilder();
    int begin = 0;
    boolean isCode = false;
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      boolean isFence = line.strip().startsWith("```");
      boolean isTable = line.startsWith("|");
      isCode ^= isFence;
      if (isFence || isTable || line.isBlank() || BLOCK_START.matcher(line).find()) {
        sentences(file, begin, paragraph.toString());
        paragraph.setLength(0);
      }
      if (isTable && !file.equals("docs/words.md")) {
        for (String cell : line.split(" \\| |^\\| | \\|$")) {
          sentences(file, i + 1, cell);
        }
      } else if (!isCode
          && !isFence
          && !isTable
          && !line.isBlank()
          && !isBlockOfCode(line, paragraph)) {
        begin = paragraph.isEmpty() ? i + 1 : begin;
        paragraph.append(line.strip()).append(' ');
      }
    }
    sentences(file, begin, paragraph.toString());
  }

  /** Four spaces make code of a line that begins a block. */
  private static boolean isBlockOfCode(String line, StringBuilder paragraph) {
    return paragraph.isEmpty() && line.startsWith("    ");
  }

  private static void sentences(String file, int line, String text) {
    for (String sentence : SENTENCE_END.split(text)) {
      print(file, line, sentence);
    }
  }

  private static void print(String file, long line, String text) {
    String flat = text.strip().replaceAll("\\s+", " ");
    if (WORDS.matcher(flat).find()) {
      System.out.println(file + ":" + line + ": " + flat);
    }
  }
}
