package dev.coatcheck.client;

import dev.coatcheck.id.ParsedPublicId;
import dev.coatcheck.id.ParsedPublicId.Valid;
import dev.coatcheck.id.PublicId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Turns answers of the gateway into results of the types that were asked for. */
final class Answers {
  private Answers() {}

  /** What a single call found; other problems are thrown. */
  static <T> Resolution<T> single(
      Class<T> type, @Nullable PublicId<T> asked, GatewayAnswer answer) {
    Fields body = answer.fields();
    if (answer.isSuccess()) {
      return found(type, body.fields("public_id").orElse(body));
    }
    Problem problem = Problem.of(answer);
    Resolution<T> resolution = ended(asked, problem, body);
    if (resolution instanceof Resolution.Refused<T>) {
      throw new CoatcheckException(answer);
    }
    return resolution;
  }

  /** What an entry of a batch found. */
  static <T> Resolution<T> entry(
      Class<T> type, @Nullable PublicId<T> asked, Fields entry, GatewayAnswer answer) {
    Optional<Fields> publicId = entry.fields("public_id");
    if (publicId.isPresent()) {
      return found(type, publicId.get());
    }
    return ended(asked, Problem.ofItem(entry, answer), entry.fields("error").orElse(entry));
  }

  /**
   * The public ID of an answer to a call that named the type.
   *
   * @throws IllegalStateException if it has another prefix: the class is annotated wrongly
   */
  static <T> PublicId<T> id(Class<T> type, Fields publicId) {
    String text = publicId.required("id");
    ParsedPublicId<T> parsed = PublicId.parse(type, text);
    if (parsed instanceof Valid<T> valid) {
      return valid.id();
    }
    throw new IllegalStateException(
        "The prefix of "
            + type.getName()
            + " is "
            + PublicId.prefixOf(type)
            + ", and the gateway's type "
            + publicId.text("type").orElse("")
            + " has another one. Correct its @PublicIdType.");
  }

  private static <T> Resolution<T> found(Class<T> type, Fields publicId) {
    String text = publicId.required("id");
    ParsedPublicId<T> parsed = PublicId.parse(type, text);
    if (parsed instanceof ParsedPublicId.WrongType<T> wrong) {
      return new Resolution.WrongType<>(wrong.expected(), wrong.actual());
    }
    PublicId<T> id = id(type, publicId);
    return switch (publicId.text("status").orElse("active")) {
      case "revoked" ->
          new Resolution.Revoked<>(
              Optional.of(id), publicId.time("ended_at"), publicId.text("ended_reason"), false);
      case "merged" ->
          new Resolution.Merged<>(
              Mapping.of(id, publicId),
              publicId.text("merged_into").map(into -> PublicId.of(type, into)));
      default -> new Resolution.Found<>(Mapping.of(id, publicId));
    };
  }

  private static <T> Resolution<T> ended(
      @Nullable PublicId<T> asked, Problem problem, Fields body) {
    return switch (problem.code()) {
      case "public_id_unknown", "key_unknown", "legacy_id_unknown", "alias_unknown" ->
          new Resolution.Unknown<>();
      case "public_id_revoked", "public_id_erased" ->
          new Resolution.Revoked<>(
              Optional.ofNullable(asked),
              body.time("ended_at"),
              body.text("ended_reason"),
              problem.code().equals("public_id_erased"));
      default -> new Resolution.Refused<>(problem);
    };
  }
}
