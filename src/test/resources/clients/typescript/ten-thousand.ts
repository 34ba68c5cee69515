// Mints 10,000 public IDs of a type through the generated client, resolves, looks up and revokes
// them, and counts. Arguments: the URL of the gateway, an API key, and the type.
import {
  BatchEntry,
  Configuration,
  EndApi,
  LookupApi,
  MintApi,
  ProblemCode,
  PublicIdObject,
  PublicIdStatus,
  ResolveApi,
} from './client';

declare const process: { argv: string[] };

const PUBLIC_IDS = 10_000;
const BATCH = 1_000;

function isSame(one: PublicIdObject, other: PublicIdObject | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function same(asked: PublicIdObject[], entries: BatchEntry[]): number {
  return entries.filter((entry) => isSame(asked[entry.index], entry.publicId)).length;
}

async function main(): Promise<void> {
  const [basePath, accessToken, type] = process.argv.slice(2);
  const configuration = new Configuration({ basePath, accessToken });
  const mints = new MintApi(configuration);
  const resolves = new ResolveApi(configuration);
  const lookups = new LookupApi(configuration);
  const ends = new EndApi(configuration);

  const single = await mints.mintId({ mintRequest: { type } });
  let minted = isSame(single, await resolves.resolveId({ id: single.id })) ? 1 : 0;
  const all: PublicIdObject[] = [single];
  while (all.length < PUBLIC_IDS) {
    const count = Math.min(BATCH, PUBLIC_IDS - all.length);
    const batch = await mints.mintBatch({ batchMintRequest: { type, count } });
    for (const { status, publicId, error } of batch.data) {
      if (status === 201 && publicId !== undefined && error === undefined) {
        minted++;
        all.push(publicId);
      }
    }
  }

  let resolved = 0;
  let lookedUp = 0;
  let revoked = 0;
  let gone = 0;
  for (let from = 0; from < all.length; from += BATCH) {
    const some = all.slice(from, from + BATCH);
    const ids = some.map(({ id }) => id);
    const keys = some.map(({ key }) => key);
    const items = ids.map((id) => ({ id }));

    resolved += same(some, (await resolves.resolveBatch({ resolveRequest: { ids } })).data);
    lookedUp += same(some, (await lookups.lookupBatch({ lookupRequest: { type, keys } })).data);
    revoked += (await ends.revokeBatch({ batchRevokeRequest: { items } })).data.filter(
      ({ publicId }) => publicId?.status === PublicIdStatus.Revoked,
    ).length;
    gone += (await resolves.resolveBatch({ resolveRequest: { ids } })).data.filter(
      ({ status, publicId, error }) =>
        status === 410 && publicId === undefined && error?.code === ProblemCode.PublicIdRevoked,
    ).length;
  }
  const bad = { type, key: 'no number' };
  const [refused] = (await mints.mintBatch({ batchMintRequest: { items: [bad] } })).data;
  console.log(
    `minted ${minted}, resolved ${resolved}, looked up ${lookedUp}, revoked ${revoked}, ` +
      `gone ${gone}, refused ${refused.error?.code}`,
  );
}

void main();
