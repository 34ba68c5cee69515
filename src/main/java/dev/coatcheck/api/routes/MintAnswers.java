package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import java.util.List;

/** What a mint that was worked on looks like: the same for whoever asks again. */
final class MintAnswers {
  private MintAnswers() {}

  static Answer one(MintRequest request, MintOutcome.Worked outcome, String requestId) {
    return switch (item(outcome)) {
      case MintOutcome.Ticket(Mapping mapping, boolean created) ->
          Answer.json(created ? 201 : 200, Views.PublicIdView.minted(mapping, request.aliases()));
      case MintOutcome.Refused refused -> Problems.answer(problem(refused, ""), requestId);
    };
  }

  private static MintOutcome.Item item(MintOutcome.Worked outcome) {
    return switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Item> items) -> items.getFirst();
      case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
          refused.getFirst().item();
    };
  }

  static Answer batch(
      List<Items.Item<MintRequest>> items, MintOutcome.Worked outcome, String requestId) {
    return switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Item> minted) -> {
        var next = minted.iterator();
        yield Items.answer(items, index -> view(items.get(index), index, next.next()));
      }
      case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
          Problems.answer(
              Problem.batchRefused(
                  refused.stream().map(item -> error(item.index(), item.item())).toList()),
              requestId);
    };
  }

  private static Views.ItemView view(
      Items.Item<MintRequest> request, int index, MintOutcome.Item item) {
    return switch (item) {
      case MintOutcome.Ticket(Mapping mapping, boolean created) ->
          Views.ItemView.minted(
              index, created ? 201 : 200, Views.PublicIdView.minted(mapping, aliases(request)));
      case MintOutcome.Refused refused ->
          Views.ItemView.refused(index, problem(refused, "items[" + index + "]."));
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
              "It is the name of a thing with another key. Nothing was done.");
      case MintOutcome.Ended _ ->
          Problem.of(
              ProblemCode.ID_ENDED,
              "The thing had a public ID that has ended. It never gets another one.");
    };
  }
}
