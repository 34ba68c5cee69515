import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EndApi;
import org.openapitools.client.api.LookupApi;
import org.openapitools.client.api.MintApi;
import org.openapitools.client.api.ResolveApi;
import org.openapitools.client.model.BatchEntry;
import org.openapitools.client.model.BatchMintItem;
import org.openapitools.client.model.BatchMintRequest;
import org.openapitools.client.model.BatchRevokeItem;
import org.openapitools.client.model.BatchRevokeRequest;
import org.openapitools.client.model.LookupRequest;
import org.openapitools.client.model.MintRequest;
import org.openapitools.client.model.ProblemCode;
import org.openapitools.client.model.PublicIdObject;
import org.openapitools.client.model.PublicIdStatus;
import org.openapitools.client.model.ResolveRequest;

/**
 * Mints 10,000 public IDs of a type through the generated client, resolves, looks up and revokes
 * them, and counts. Arguments: the URL of the gateway, an API key, and the type.
 */
public class TenThousand {
  private static final int PUBLIC_IDS = 10_000;
  private static final int BATCH = 1_000;

  public static void main(String[] args) throws ApiException {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
    String type = args[2];
    MintApi mints = new MintApi(client);
    ResolveApi resolves = new ResolveApi(client);
    LookupApi lookups = new LookupApi(client);
    EndApi ends = new EndApi(client);

    PublicIdObject single = mints.mintId(new MintRequest().type(type), null);
    long minted = resolves.resolveId(single.getId(), null).equals(single) ? 1 : 0;
    List<PublicIdObject> all = new ArrayList<>(List.of(single));
    while (all.size() < PUBLIC_IDS) {
      int count = Math.min(BATCH, PUBLIC_IDS - all.size());
      for (BatchEntry entry :
          mints.mintBatch(new BatchMintRequest().type(type).count(count), null).getData()) {
        minted += entry.getStatus() == 201 && entry.getError() == null ? 1 : 0;
        all.add(entry.getPublicId());
      }
    }

    long resolved = 0;
    long lookedUp = 0;
    long revoked = 0;
    long gone = 0;
    for (int from = 0; from < all.size(); from += BATCH) {
      List<PublicIdObject> some = all.subList(from, from + BATCH);
      List<String> ids = some.stream().map(PublicIdObject::getId).toList();
      List<String> keys = some.stream().map(PublicIdObject::getKey).toList();
      List<BatchRevokeItem> items = ids.stream().map(id -> new BatchRevokeItem().id(id)).toList();

      resolved += same(some, resolves.resolveBatch(new ResolveRequest().ids(ids)).getData());
      lookedUp +=
          same(some, lookups.lookupBatch(new LookupRequest().type(type).keys(keys)).getData());
      revoked +=
          ends.revokeBatch(new BatchRevokeRequest().items(items), null).getData().stream()
              .filter(entry -> entry.getPublicId().getStatus() == PublicIdStatus.REVOKED)
              .count();
      gone +=
          resolves.resolveBatch(new ResolveRequest().ids(ids)).getData().stream()
              .filter(entry -> entry.getStatus() == 410 && entry.getPublicId() == null)
              .filter(entry -> entry.getError().getCode() == ProblemCode.PUBLIC_ID_REVOKED)
              .count();
    }
    BatchMintItem bad = new BatchMintItem().type(type).key("no number");
    ProblemCode refused =
        mints
            .mintBatch(new BatchMintRequest().items(List.of(bad)), null)
            .getData()
            .getFirst()
            .getError()
            .getCode();
    System.out.printf(
        Locale.ROOT,
        "minted %d, resolved %d, looked up %d, revoked %d, gone %d, refused %s%n",
        minted,
        resolved,
        lookedUp,
        revoked,
        gone,
        refused);
  }

  private static long same(List<PublicIdObject> asked, List<BatchEntry> entries) {
    long same = 0;
    for (BatchEntry entry : entries) {
      same += asked.get(entry.getIndex()).equals(entry.getPublicId()) ? 1 : 0;
    }
    return same;
  }
}
