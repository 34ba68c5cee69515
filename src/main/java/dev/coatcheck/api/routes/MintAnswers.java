package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import java.util.List;

/** Answers to mints that were carried out. */
final class MintAnswers {
  private MintAnswers() {}

  static Answer one(MintRequest request, MintOutcome.Worked outcome) {
    MintOutcome.Item item =
        switch (outcome) {
          case MintOutcome.Minted(List<MintOutcome.Item> items) -> items.getFirst();
          case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
              refused.getFirst().item();
        };
    return Items.answer(result(request, item, ""));
  }

  static Answer batch(List<Item<MintRequest>> items, MintOutcome.Worked outcome) {
    return switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Item> minted) ->
          Items.answer(
              Items.results(
                  items, minted, (index, request, item) -> result(request, item, path(index))));
      case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
          Answer.of(Problem.batchRefused(refused.stream().map(MintAnswers::error).toList()));
    };
  }

  private static Item<Shown> result(MintRequest request, MintOutcome.Item item, String path) {
    return switch (item) {
      case MintOutcome.Ticket(Mapping mapping, boolean created) ->
          Items.shown(created ? 201 : 200, PublicIdView.minted(mapping, request.aliases()));
      case MintOutcome.Refused refused -> new Item.Refused<>(problem(refused, path));
    };
  }

  private static Problem.ItemError error(MintOutcome.RefusedItem refused) {
    return new Problem.ItemError(refused.index(), problem(refused.item(), path(refused.index())));
  }

  private static String path(int index) {
    return "items[" + index + "].";
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
