package dev.coatcheck.api.exchange;

import dev.coatcheck.core.id.Sha256;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * A file of the jar, plain and compressed, each form in one off-heap buffer that all answers share.
 * The JDK would copy a heap buffer for each thread that sends it.
 */
public final class StaticFile {
  private static final int TAG_BYTES = 12;

  /** Nothing from other sites, and no inline script or style. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'"
          + " data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors"
          + " 'none'";

  /** For a file whose name changes with its content. */
  private static final HttpField KEPT =
      new HttpField(HttpHeader.CACHE_CONTROL, "public, max-age=31536000, immutable");

  private static final HttpField CACHED =
      new HttpField(HttpHeader.CACHE_CONTROL, "public, max-age=300");

  private static final List<HttpField> HEADERS = headers(CACHED);
  private static final List<HttpField> HEADERS_OF_KEPT = headers(KEPT);

  private static List<HttpField> headers(HttpField cacheControl) {
    return List.of(
        cacheControl,
        new HttpField("Content-Security-Policy", POLICY),
        new HttpField(HttpHeader.VARY, "Accept-Encoding"));
  }

  /** Of all answers at a path where only browsers get a file. */
  public static final HttpField BY_FORM = new HttpField(HttpHeader.VARY, "Accept, Accept-Encoding");

  private static final List<HttpField> HEADERS_OF_PAGE =
      Stream.concat(Page.HEADERS.stream(), Stream.of(CACHED, BY_FORM)).toList();

  private final HttpField contentType;
  private final List<HttpField> headers;
  private final Form plain;
  private final Form compressed;

  /** One of the two forms. Its tag identifies the file and the form. */
  private record Form(ByteBuffer bytes, HttpField tag) {
    static Form of(byte[] bytes, String tag) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
      return new Form(buffer.asReadOnlyBuffer(), new HttpField(HttpHeader.ETAG, '"' + tag + '"'));
    }
  }

  private StaticFile(String contentType, List<HttpField> headers, byte[] bytes) {
    String tag = HexFormat.of().formatHex(Sha256.start().digest(bytes), 0, TAG_BYTES);
    this.contentType = new HttpField(HttpHeader.CONTENT_TYPE, contentType);
    this.headers = headers;
    this.plain = Form.of(bytes, tag);
    this.compressed = Form.of(gzip(bytes), tag + "-gzip");
  }

  /** A file that caches ask for again after a while. */
  public static StaticFile load(String resource, String contentType) {
    return new StaticFile(contentType, HEADERS, bytes(resource));
  }

  /** A file whose name changes with its content, so that caches keep it for good. */
  public static StaticFile kept(String contentType, byte[] bytes) {
    return new StaticFile(contentType, HEADERS_OF_KEPT, bytes);
  }

  /** The content of a file of the jar. */
  public static byte[] bytes(String resource) {
    try (InputStream in = StaticFile.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("missing in the jar: " + resource);
      }
      return in.readAllBytes();
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /** A page at a path where only browsers get it. */
  public static StaticFile of(byte[] page) {
    return new StaticFile(Page.CONTENT_TYPE, HEADERS_OF_PAGE, page);
  }

  /** Answers GET and HEAD without waiting for the client. */
  public void send(Request request, Response response, Callback callback) {
    boolean isCompressed =
        request.getHeaders().getQualityCSV(HttpHeader.ACCEPT_ENCODING).contains("gzip");
    Form form = isCompressed ? compressed : plain;
    HttpFields.Mutable fields = response.getHeaders();
    headers.forEach(fields::put);
    fields.put(form.tag());
    if (has(request, form.tag().getValue())) {
      response.setStatus(304);
      response.write(true, null, callback);
      return;
    }
    response.setStatus(200);
    fields.put(contentType);
    fields.put(HttpHeader.CONTENT_LENGTH, form.bytes().remaining());
    if (isCompressed) {
      fields.put(HttpHeader.CONTENT_ENCODING, "gzip");
    }
    if (request.getMethod().equals("HEAD")) {
      response.write(true, null, callback);
      return;
    }
    // Sends the head first, so that its buffer is returned before the client can stall.
    response.write(
        false,
        null,
        Callback.from(
            () -> response.write(true, form.bytes().slice(), callback), callback::failed));
  }

  private static boolean has(Request request, String tag) {
    return request.getHeaders().getCSV(HttpHeader.IF_NONE_MATCH, true).stream()
        .anyMatch(known -> known.equals("*") || known.replaceFirst("^W/", "").equals(tag));
  }

  private static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream into = new ByteArrayOutputStream(bytes.length / 3);
    try (GZIPOutputStream out = new GZIPOutputStream(into)) {
      out.write(bytes);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return into.toByteArray();
  }
}
