package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import java.util.List;

/** Answers to mints that were worked on. */
final class MintAnswers {
  private MintAnswers() {}

  static Answer one(MintRequest request, MintOutcome.Worked outcome) {
    return switch (item(outcome)) {
      case MintOutcome.Ticket(Mapping mapping, boolean created) ->
          Answer.json(created ? 201 : 200, PublicIdView.minted(mapping, request.aliases()));
      case MintOutcome.Refused refused -> Answer.of(problem(refused, ""));
    };
  }

  private static MintOutcome.Item item(MintOutcome.Worked outcome) {
    return switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Item> items) -> items.getFirst();
      case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
          refused.getFirst().item();
    };
  }

  static Answer batch(List<Items.Item<MintRequest>> items, MintOutcome.Worked outcome) {
    return switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Item> minted) -> {
        var next = minted.iterator();
        yield Items.answer(items, index -> view(items.get(index), index, next.next()));
      }
      case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
          Answer.of(
              Problem.batchRefused(
                  refused.stream().map(item -> error(item.index(), item.item())).toList()));
    };
  }

  private static Items.ItemView view(
      Items.Item<MintRequest> request, int index, MintOutcome.Item item) {
    return switch (item) {
      case MintOutcome.Ticket(Mapping mapping, boolean created) ->
          Items.ItemView.found(
              index, created ? 201 : 200, PublicIdView.minted(mapping, aliases(request)));
      case MintOutcome.Refused refused ->
          Items.ItemView.refused(index, problem(refused, "items[" + index + "]."));
    };
  }

  private static List<Alias> aliases(Items.Item<MintRequest> item) {
    return item instanceof Items.Item.Sound<MintRequest>(MintRequest request)
        ? request.aliases()
        : List.of();
  }

  private static Problem.ItemError error(int index, MintOutcome.Refused item) {
    return new Problem.ItemError(index, problem(item, "items[" + index + "]."));
  }

  private static Problem problem(MintOutcome.Refused item, String path) {
    return switch (item) {
      case MintOutcome.AliasTaken(AliasScheme scheme) ->
          Problem.at(
              ProblemCode.ALIAS_CONFLICT,
              path + scheme.wireName() + "_id",
              "A public ID with another key already has this alias. Nothing was done.");
      case MintOutcome.Ended _ ->
          Problem.of(
              ProblemCode.ID_ENDED,
              "The public ID of this key or alias was revoked or merged, for good. The key never"
                  + " gets another public ID.");
    };
  }
}
