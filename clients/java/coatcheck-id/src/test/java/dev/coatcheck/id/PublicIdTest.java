package dev.coatcheck.id;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.id.ParsedPublicId.Valid;
import dev.coatcheck.id.ParsedPublicId.WrongType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PublicIdTest {
  private static final String CHARGE = "ch_4KIWSf8WvPNoQDBwStVIDYHU";
  private static final String LIVE_KEY = "sk_live_4KIWSf8WvPNoQDBwStVIDYGM";

  @PublicIdType(prefix = "ch")
  static final class Charge {}

  @PublicIdType(prefix = "ch")
  static final class SameCharge {}

  @PublicIdType(prefix = "sk_live")
  static final class LiveKey {}

  @PublicIdType(prefix = "Not a prefix")
  static final class Misnamed {}

  @Test
  void aPublicIdKeepsItsText() {
    PublicId<Charge> id = PublicId.of(Charge.class, CHARGE);

    assertThat(PublicId.parse(Charge.class, CHARGE)).isEqualTo(new Valid<>(id));
    assertThat(id).hasToString(CHARGE);
    assertThat(id.prefix()).isEqualTo("ch");
    assertThat(id.type()).isEqualTo(Charge.class);
  }

  @Test
  void aPublicIdOfAnotherTypeIsRefusedByBothPrefixes() {
    assertThat(PublicId.parse(Charge.class, LIVE_KEY)).isEqualTo(new WrongType<>("ch", "sk_live"));
    assertThatThrownBy(() -> PublicId.of(Charge.class, LIVE_KEY))
        .isInstanceOfSatisfying(
            InvalidPublicIdException.class,
            e -> assertThat(e.result()).isEqualTo(new WrongType<>("ch", "sk_live")))
        .hasMessage("This is a public ID with the prefix sk_live. The prefix must be ch.");
  }

  @Test
  void onlyTheSameTextOfTheSameClassIsEqual() {
    assertThat(PublicId.of(Charge.class, CHARGE))
        .isEqualTo(PublicId.of(Charge.class, CHARGE))
        .hasSameHashCodeAs(PublicId.of(Charge.class, CHARGE))
        .isNotEqualTo(PublicId.of(SameCharge.class, CHARGE))
        .isNotEqualTo(PublicId.of(Charge.class, "ch_00000000000000000000002B"));
  }

  @Test
  void thePrefixOfATextIsToldForEveryType() {
    assertThat(PublicId.prefixOf(LIVE_KEY)).hasValue("sk_live");
    assertThat(PublicId.prefixOf(LIVE_KEY + "x")).isEmpty();
    assertThat(PublicId.prefixOf(LiveKey.class)).isEqualTo("sk_live");
  }

  /** A session over HTTP is kept so, and many a cache. */
  @Test
  void publicIdsAndKeysAreTheSameAfterTheyWereSerialized() throws Exception {
    for (Object value :
        List.of(
            PublicId.of(Charge.class, CHARGE),
            Key.of(Charge.class, 42),
            Key.of(Charge.class, new UUID(1, 2)))) {
      assertThat(read(written(value))).isEqualTo(value);
    }
  }

  @Test
  void bytesThatHoldNoPublicIdAndNoKeyAreRefused() throws Exception {
    String wrong = "ch_4KIWSf8WvPNoQDBwStVIDYHV";
    byte[] id = written(PublicId.of(Charge.class, CHARGE));
    String changed = new String(id, ISO_8859_1).replace(CHARGE, wrong);
    assertThatThrownBy(() -> read(changed.getBytes(ISO_8859_1)))
        .isInstanceOf(InvalidPublicIdException.class);

    byte[] key = written(Key.of(Charge.class, 0x4142_4344_4546_4748L));
    String negative = new String(key, ISO_8859_1).replace("ABCDEFGH", "ÁBCDEFGH");
    assertThatThrownBy(() -> read(negative.getBytes(ISO_8859_1)))
        .isInstanceOf(InvalidObjectException.class)
        .hasRootCauseInstanceOf(IllegalArgumentException.class);
  }

  private static byte[] written(Object value) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(value);
    }
    return bytes.toByteArray();
  }

  private static Object read(byte[] bytes) throws IOException, ClassNotFoundException {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    }
  }

  @Test
  void aClassWithoutAValidPrefixIsRefusedByItsName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PublicId.parse(String.class, CHARGE))
        .withMessage("java.lang.String has no prefix. Annotate it with @PublicIdType(prefix = …).");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PublicId.parse(Misnamed.class, CHARGE))
        .withMessageContaining("\"Not a prefix\" of " + Misnamed.class.getName());
  }
}
