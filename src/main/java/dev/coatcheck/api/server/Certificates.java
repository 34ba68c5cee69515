package dev.coatcheck.api.server;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/**
 * The certificate of TLS connections. Its files are read again every {@value #PERIOD_SECONDS} s, by
 * content: Kubernetes replaces a mounted secret by a link. A sound change applies to new
 * connections and leaves open ones alone; with a faulty one the last sound certificate stays. One
 * that clients take is replaced by no other that has ended or isn't valid yet; the latter is served
 * once it is valid.
 */
public final class Certificates implements AutoCloseable {
  private static final int PERIOD_SECONDS = 5;
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  /** The key store is never written, so its password protects nothing. */
  private static final String PASSWORD = "in memory";

  private final TlsFiles files;
  private final Observer observer;
  private final InstantSource clock;
  private final List<SslContextFactory.Server> factories = new CopyOnWriteArrayList<>();
  private final Background background;

  private TlsFiles.Texts texts;

  /** In the files, and not valid yet. */
  private Optional<TlsFiles.Read.Sound> waiting = Optional.empty();

  private volatile TlsFiles.Read.Sound served;

  private Certificates(TlsFiles files, Observer observer, InstantSource clock) {
    this.files = files;
    this.observer = observer;
    this.clock = clock;
    this.background = new Background("certificates", observer);
    this.texts = files.texts();
    this.served =
        switch (files.parse(texts)) {
          case TlsFiles.Read.Sound sound -> sound;
          case TlsFiles.Read.Faulty faulty -> throw new IllegalStateException(why(faulty));
        };
  }

  /**
   * Reads the files, and continues to watch them.
   *
   * @throws IllegalStateException if they are faulty, although they were sound before
   */
  public static Certificates open(TlsFiles files, Observer observer) {
    return open(files, observer, InstantSource.system());
  }

  static Certificates open(TlsFiles files, Observer observer, InstantSource clock) {
    Certificates certificates = new Certificates(files, observer, clock);
    observer.gauge("coatcheck.tls.certificate.ends", certificates::endsSeconds);
    certificates.background.every(Duration.ofSeconds(PERIOD_SECONDS), certificates::look);
    return certificates;
  }

  /** For one connector, whose life it shares. */
  synchronized SslContextFactory.Server factory() {
    SslContextFactory.Server factory = new SslContextFactory.Server();
    factory.setIncludeProtocols(PROTOCOLS);
    factory.setRenegotiationAllowed(false);
    factory.setKeyStore(keyStore(served));
    factory.setKeyStorePassword(PASSWORD);
    factories.add(factory);
    return factory;
  }

  synchronized void look() {
    TlsFiles.Texts texts = files.texts();
    Instant now = clock.instant();
    if (!texts.equals(this.texts)) {
      waiting = Optional.empty();
      switch (files.parse(texts)) {
        case TlsFiles.Read.Sound sound -> change(sound, now);
        case TlsFiles.Read.Faulty faulty -> refused(why(faulty));
      }
      this.texts = texts;
    } else if (waiting.isPresent() && isValid(waiting.get(), now)) {
      serve(waiting.get());
      waiting = Optional.empty();
    }
  }

  private void change(TlsFiles.Read.Sound sound, Instant now) {
    if (sound.equals(served)) {
      return;
    }
    if (isValid(sound, now) || !isValid(served, now)) {
      serve(sound);
    } else if (end(sound).isBefore(now)) {
      refused("the certificate ended at " + end(sound));
    } else {
      waiting = Optional.of(sound);
      refused("the certificate is valid from " + start(sound) + " on, and is served from then on");
    }
  }

  private void serve(TlsFiles.Read.Sound sound) {
    for (SslContextFactory.Server factory : factories) {
      try {
        factory.reload(changed -> changed.setKeyStore(keyStore(sound)));
      } catch (Exception failed) {
        throw new IllegalStateException("the certificate was not replaced", failed);
      }
    }
    served = sound;
    observer.observe(new Event.CertificateReplaced(end(sound)));
  }

  private void refused(String why) {
    observer.observe(new Event.CertificateRefused(why));
  }

  private long endsSeconds() {
    return end(served).getEpochSecond();
  }

  private static boolean isValid(TlsFiles.Read.Sound sound, Instant now) {
    return !start(sound).isAfter(now) && !end(sound).isBefore(now);
  }

  private static Instant start(TlsFiles.Read.Sound sound) {
    return sound.chain().getFirst().getNotBefore().toInstant();
  }

  private static Instant end(TlsFiles.Read.Sound sound) {
    return sound.chain().getFirst().getNotAfter().toInstant();
  }

  private static KeyStore keyStore(TlsFiles.Read.Sound sound) {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry(
          "gateway",
          sound.key(),
          PASSWORD.toCharArray(),
          sound.chain().toArray(Certificate[]::new));
      return store;
    } catch (GeneralSecurityException | IOException missing) {
      throw new IllegalStateException("this Java has no PKCS12", missing);
    }
  }

  private static String why(TlsFiles.Read.Faulty faulty) {
    return String.join(
        "; ",
        Stream.concat(
                faulty.ofCertificate().stream().map("the certificate "::concat),
                faulty.ofKey().stream().map("the key "::concat))
            .toList());
  }

  @Override
  public void close() {
    background.stop();
  }
}
