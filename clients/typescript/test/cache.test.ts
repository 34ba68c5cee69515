import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Coatcheck, type PublicId, publicIdType } from '@coatcheck/client';
import type { FaultProxy } from './fault-proxy.js';
import { API_KEY, client, faulty, mapping, newKeys, URL_OF_GATEWAY } from './gateway.js';

/** Registered more than two minutes ago. */
const kept = publicIdType('kept', 'kept');

async function cached(): Promise<{ proxy: FaultProxy; ids: Coatcheck }> {
  const made = await faulty({ cache: 1_000 });
  after(() => made.ids.close());
  while (!made.ids.cacheStatistics.isTrusted) {
    await nextTurn();
  }
  return made;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

async function minted(): Promise<PublicId<'kept'>> {
  const [key = ''] = newKeys(1);
  return mapping(await client().mint(kept, { key })).id;
}

async function callsOf(proxy: FaultProxy, work: () => Promise<unknown>): Promise<number> {
  const before = proxy.seen.length;
  await work();
  return proxy.seen.length - before;
}

/** As soon as the client knows the changes of two minutes, of which the gateway knows 115 s. */
async function untilKept(proxy: FaultProxy, ids: Coatcheck, id: PublicId<'kept'>): Promise<void> {
  while ((await callsOf(proxy, () => ids.resolve(kept, id))) > 0) {
    await nextTurn();
  }
}

test('an API key that comes late or never keeps no change from being heard, and no close from its end', async () => {
  let asked = 0;
  let give = (_: string): void => undefined;
  const silent = (): Promise<string> => new Promise((resolve) => (give = resolve));
  const { ids } = await faulty({
    cache: 1_000,
    deadlineMillis: 200,
    apiKey: () => (++asked === 1 ? silent() : asked === 2 ? assert.fail('The vault is closed.') : API_KEY),
  });
  after(() => ids.close());
  while (!ids.cacheStatistics.isTrusted) {
    await nextTurn();
  }

  let sent = 0;
  const closed = client({ cache: 1_000, apiKey: silent, fetch: () => (sent++, assert.fail()) });
  closed.close();
  give(API_KEY);
  await nextTurn();
  assert.equal(sent, 0);
});

test('what is in use is asked for once, alone and in batches', async () => {
  const { proxy, ids } = await cached();
  const id = await minted();
  await untilKept(proxy, ids, id);
  const other = await minted();

  assert.equal(await callsOf(proxy, () => ids.resolveAll(kept, [id, id])), 0);
  assert.equal(await callsOf(proxy, () => ids.resolveAll(kept, [id, other, id])), 1);
  const both = await ids.resolveAll(kept, [other, id]);
  assert.deepEqual(both.map((found) => mapping(found).id), [other, id]);
  const { key } = mapping(both[0] ?? { outcome: '' });
  assert.equal(await callsOf(proxy, () => ids.lookup(kept, key)), 1);
  assert.equal(await callsOf(proxy, () => ids.collector().publicId(kept, key)), 0);
});

test('what others revoke is dead within two seconds, and what this client revokes at once', async () => {
  const { proxy, ids } = await cached();
  const [theirs, own] = [await minted(), await minted()];
  await untilKept(proxy, ids, theirs);
  await untilKept(proxy, ids, own);

  await client().revoke(theirs);
  const revokedAt = performance.now();
  let askedAt = revokedAt;
  let lastFoundAt = revokedAt;
  while ((await ids.resolve(kept, theirs)).outcome === 'found') {
    lastFoundAt = askedAt; // when it was asked, because the machine may be slow to answer
    askedAt = performance.now();
    await nextTurn();
  }
  assert.ok(lastFoundAt - revokedAt < 2_000, `${lastFoundAt - revokedAt} ms`);

  await ids.revoke(own);
  assert.equal((await ids.resolve(kept, own)).outcome, 'revoked');
});

test('what ends while the rest of a list is asked for is not served with it', async () => {
  const { proxy, ids } = await cached();
  const [id, next, other] = [await minted(), await minted(), await minted()];
  await untilKept(proxy, ids, id);
  await untilKept(proxy, ids, next);

  const answered = await fetch(`${URL_OF_GATEWAY}/v1/ids/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ids: [other] }),
  });
  const late = { kind: 'answer', status: 503, headers: { 'retry-after': '3' } } as const;
  proxy.faults.push(late, { kind: 'answer', status: 200, body: await answered.text() }, late);
  const all = ids.resolveAll(kept, [id, next, other]);
  await client().revoke(next);
  while (proxy.faults.length > 0) {
    await nextTurn();
  }
  await client().revoke(id);

  assert.deepEqual((await all).map(({ outcome }) => outcome), ['revoked', 'revoked', 'found']);
});

test('an older public ID whose alias was removed is unknown within two seconds', async () => {
  const { proxy, ids } = await cached();
  const id = await minted();
  await untilKept(proxy, ids, id);
  const alias = { scheme: 'public', value: `old-${String(Date.now()).slice(-8)}` } as const;
  await client().putAlias(id, alias);
  assert.equal((await ids.resolve(kept, alias.value, { older: true })).outcome, 'found');

  await client().deleteAlias(id, alias);
  const removedAt = performance.now();
  let askedAt = removedAt;
  let lastFoundAt = removedAt;
  while ((await ids.resolve(kept, alias.value, { older: true })).outcome === 'found') {
    lastFoundAt = askedAt;
    askedAt = performance.now();
    assert.ok(lastFoundAt - removedAt < 10_000, 'still found after ten seconds');
    await nextTurn();
  }
  assert.ok(lastFoundAt - removedAt < 2_000, `${lastFoundAt - removedAt} ms`);
});

test('without a gateway nothing is served for longer than two seconds', async () => {
  const { proxy, ids } = await cached();
  const id = await minted();
  await untilKept(proxy, ids, id);

  await proxy[Symbol.asyncDispose]();
  while (ids.cacheStatistics.isTrusted) {
    await nextTurn();
  }
  await assert.rejects(ids.resolve(kept, id, { deadlineMillis: 300 }), { code: 'deadline_exceeded' });
});
