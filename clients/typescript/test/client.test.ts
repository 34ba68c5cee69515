import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { before, test } from 'node:test';
import { CoatcheckError, formatPublicId, type PublicId, statusOf } from '@coatcheck/client';
import { API_KEY, charge, client, faulty, mapping, message, newKeys, registerAll, URL_OF_GATEWAY, user } from './gateway.js';

const UNKNOWN = formatPublicId('ch', 0n) as PublicId<'charge'>;
const BUSY = JSON.stringify({ code: 'busy', detail: 'Busy.', status: 409, request_id: 'req_12345678' });

before(registerAll);

test('a mint is resolved, looked up, and found again by what it brought', async () => {
  const ids = client();
  const [key = ''] = newKeys(1);
  const minted = await ids.mint(charge, { key, legacyId: key });
  assert.equal(minted.outcome, 'minted');
  const { id } = mapping(minted);

  assert.equal((await ids.mint(charge, { key: BigInt(key) })).outcome, 'existing');
  for (const answer of [
    await ids.resolve(charge, id),
    await ids.lookup(charge, key),
    await ids.legacy(charge, key),
    await ids.lookupAlias(charge, { scheme: 'legacy', value: key }),
  ]) {
    assert.equal(answer.outcome, 'found');
    assert.equal(mapping(answer).id, id);
    assert.equal(mapping(answer).key, key);
    assert.equal(mapping(answer).createdAt, mapping(minted).createdAt);
  }
  assert.deepEqual(await ids.aliases(id), [{ scheme: 'legacy', value: key }]);
});

test('a merged public ID is merged, also for those who look its key up', async () => {
  const ids = client();
  const [key = '', other = ''] = newKeys(2);
  const { id } = mapping(await ids.mint(charge, { key }));
  const survivor = mapping(await ids.mint(charge, { key: other }));
  const merge = await fetch(`${URL_OF_GATEWAY}/v1/ids/${id}/merge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ into: survivor.id }),
  });
  assert.equal(merge.status, 200);

  const resolved = await ids.resolve(charge, id);
  assert.ok(resolved.outcome === 'merged');
  assert.deepEqual([resolved.key, resolved.mergedInto], [other, survivor.id]);
  for (const row of [await ids.lookup(charge, key), (await ids.lookupAll(charge, [key]))[0]]) {
    assert.ok(row?.outcome === 'merged');
    assert.deepEqual([row.key, row.mergedInto], [key, undefined]);
  }
});

test('the public ID of another type and a typo are refused without a request', async () => {
  const { proxy, ids } = await faulty();
  const [key = ''] = newKeys(1);
  const userId = mapping(await client().mint(user, { key })).id;

  assert.deepEqual(await ids.resolve(charge, userId), { outcome: 'wrong_type', prefix: 'usr' });
  assert.deepEqual(await ids.resolve(charge, 'ch_00000000000000000000002C'), {
    outcome: 'malformed',
    reason: 'check',
    position: 25,
  });
  assert.deepEqual(
    (await ids.resolveAll(charge, [userId, '', undefined])).map(({ outcome }) => outcome),
    ['wrong_type', 'malformed', 'malformed'],
  );
  assert.equal((await ids.resolve(charge, userId, { older: true })).outcome, 'wrong_type');
  assert.equal((await ids.resolveAll(charge, [userId], { older: true }))[0]?.outcome, 'wrong_type');
  assert.equal(proxy.seen.length, 0);
  assert.deepEqual(await ids.resolve(charge, UNKNOWN), { outcome: 'unknown' });
  assert.equal(proxy.seen.length, 1);
});

test('a text that can be no older public ID either is malformed', async () => {
  const ids = client();
  const texts = ['a/b', '50%', 'x;y', '.', '..', 'a\\b', 'a\0b', '\ud800', 'old-\udc00', 'x'.repeat(100_000), 'ä ö?#'];
  for (const text of texts) {
    assert.equal((await ids.resolve(charge, text, { older: true })).outcome, 'malformed', JSON.stringify(text));
  }
  for (const { outcome } of await ids.resolveAll(charge, texts, { older: true })) {
    assert.equal(outcome, 'malformed');
  }
});

test('a broken API key is refused without a request and not shown', async () => {
  for (const apiKey of ['key_SECRET\nsecond line', 'key_SECRET\0', 'key_SECRET'.padEnd(256, 'x')]) {
    const ids = client({ apiKey, fetch: () => assert.fail('sent') });

    await assert.rejects(
      ids.resolve(charge, UNKNOWN),
      (error: Error) => error instanceof RangeError && !/SECRET/.test(String(error)) && error.cause === undefined,
    );
  }
});

test('an API key that a function does not give ends the call, and is not shown', async () => {
  const mint = (apiKey: () => string | Promise<string>) =>
    client({ apiKey, deadlineMillis: 300, fetch: () => assert.fail('sent') }).mint(message, {});
  for (const apiKey of [
    () => new Promise<string>(() => undefined),
    () => Promise.reject(new Error('The vault is closed.')),
    () => assert.fail('The vault is closed.'),
    () => 'key_SECRET\nsecond line',
  ]) {
    await assert.rejects(mint(apiKey), (error) => {
      assert.ok(error instanceof CoatcheckError && error.cause instanceof Error);
      assert.deepEqual([error.status, error.code], [0, 'key_unavailable']);
      assert.ok(error.idempotencyKey);
      assert.equal(statusOf(error), 503);
      assert.doesNotMatch(`${error} ${error.cause}`, /SECRET/);
      return true;
    });
  }

  const controller = new AbortController();
  const reason = new Error('the visitor left');
  const waiting = client({ apiKey: () => new Promise(() => undefined) });
  const call = waiting.resolve(charge, UNKNOWN, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(call, reason);
});

test('what was minted is known though the API key fails at a later batch', async () => {
  let asked = 0;
  const ids = client({ apiKey: () => (++asked > 2 ? assert.fail('The vault is closed.') : API_KEY) });
  const minted = await ids.mintAll(message, Array.from({ length: 4_000 }, () => ({})));

  minted.forEach((entry, i) => {
    assert.equal(entry.outcome, i < 2_000 ? 'minted' : 'failed', String(i));
    assert.ok(entry.outcome !== 'failed' || entry.error.code === 'key_unavailable');
    assert.ok(entry.outcome !== 'failed' || entry.error.idempotencyKey?.endsWith(i < 3_000 ? '/2' : '/3'));
  });
});

test('a text that an API key of some types may not ask for is malformed', async () => {
  const { proxy, ids } = await faulty();
  const body = BUSY.replace('busy', 'type_not_allowed');
  proxy.faults.push(
    { kind: 'answer', status: 403, body },
    { kind: 'answer', status: 200, body: `{"data":[{"index":0,"status":403,"error":${body}}]}` },
  );

  assert.equal((await ids.resolve(charge, 'foo', { older: true })).outcome, 'malformed');
  const all = await ids.resolveAll(charge, ['', 'foo'], { older: true });
  assert.deepEqual(all.map(({ outcome }) => outcome), ['malformed', 'malformed']);
  assert.equal(proxy.seen.length, 2);
});

test('2,500 items are three requests, and each result is that of its item', async () => {
  const { proxy, ids } = await faulty();
  const keys = newKeys(2_500);
  const bad = 1_777;
  const minted = await ids.mintAll(charge, keys.map((key, i) => ({ key: i === bad ? 'x' : key })));

  assert.equal(minted.length, keys.length);
  minted.forEach((entry, i) => {
    if (i === bad) {
      assert.ok(entry.outcome === 'failed');
      assert.equal(entry.error.code, 'key_malformed');
      assert.equal(entry.error.status, 400);
      assert.match(entry.error.requestId ?? '', /^req_/);
    } else {
      assert.equal(entry.outcome, 'minted');
      assert.equal(mapping(entry).key, keys[i]);
    }
  });
  assert.deepEqual(sizes(proxy.to('/v1/ids/batch'), 'items'), [500, 1_000, 1_000]);

  const texts: string[] = minted.map((entry, i) => (i === bad ? UNKNOWN : mapping(entry).id));
  const resolved = await ids.resolveAll(charge, ['typo', ...texts]);
  assert.deepEqual(resolved[0]?.outcome, 'malformed');
  assert.deepEqual(resolved[bad + 1], { outcome: 'unknown' });
  keys.forEach((key, i) => assert.ok(i === bad || mapping(resolved[i + 1] ?? { outcome: '' }).key === key));
  assert.deepEqual(sizes(proxy.to('/v1/ids/resolve'), 'ids'), [500, 1_000, 1_000]);

  const lookedUp = await ids.lookupAll(charge, keys);
  texts.forEach((id, i) => assert.ok(i === bad || mapping(lookedUp[i] ?? { outcome: '' }).id === id));
  assert.deepEqual(lookedUp[bad], { outcome: 'unknown' });
});

test('items of many bytes are cut so that each body is taken', async () => {
  const { proxy, ids } = await faulty();
  const path = `/${'x'.repeat(4_000)}`;
  const urls = await ids.resolveUrlAll(Array.from({ length: 600 }, (_, i) => `${path}/${i}`));

  assert.deepEqual(new Set(urls.map(({ outcome }) => outcome)), new Set(['resolved']));
  assert.equal(proxy.seen.length, 3);
});

test('a batch that fails as a whole leaves its error at its items only', async () => {
  const { proxy, ids } = await faulty();
  const refusal = { kind: 'answer', status: 413, body: BUSY.replace('busy', 'body_too_large') } as const;
  proxy.faults.push(refusal);
  const keys = newKeys(1_500);
  const minted = await ids.mintAll(charge, keys.map((key) => ({ key })));
  const failed = minted.filter(({ outcome }) => outcome === 'failed').length;

  assert.ok(failed === 1_000 || failed === 500, String(failed));
  assert.equal(minted.filter(({ outcome }) => outcome === 'minted').length, 1_500 - failed);
  proxy.faults.push(refusal, refusal);
  await assert.rejects(
    ids.mintAll(charge, keys.map((key) => ({ key }))),
    (error) => error instanceof CoatcheckError && error.code === 'body_too_large' && error.status === 413,
  );
});

test('a call of many batches that failed is sent again with the key of its error', async () => {
  const { proxy, ids } = await faulty();
  const refusal = { kind: 'answer', status: 413, body: BUSY.replace('busy', 'body_too_large') } as const;
  proxy.faults.push(refusal, refusal);
  const names = Array.from({ length: 1_500 }, () => ({}));
  const error: unknown = await ids.mintAll(message, names).catch((failed: unknown) => failed);
  assert.ok(error instanceof CoatcheckError && error.idempotencyKey !== undefined);
  await ids.mintAll(message, names, { idempotencyKey: error.idempotencyKey });

  const keys = proxy.to('/v1/ids/batch').map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 4);
  assert.deepEqual(new Set(keys.slice(2)), new Set(keys.slice(0, 2)));
});

test('after an error that the next batch would meet too, the rest is not sent', async () => {
  const { proxy, ids } = await faulty();
  proxy.faults.push({ kind: 'answer', status: 503, headers: { 'retry-after': '3600' }, body: BUSY });
  const minted = await ids.mintAll(message, Array.from({ length: 4_000 }, () => ({})));

  assert.equal(proxy.seen.length, 2);
  const [sent, rest] = [minted.slice(0, 2_000), minted.slice(2_000)];
  assert.equal(sent.filter(({ outcome }) => outcome === 'minted').length, 1_000);
  for (const entry of sent) {
    assert.ok(entry.outcome !== 'failed' || (entry.error.status === 503 && entry.notSent === undefined));
  }
  rest.forEach((entry, i) => {
    assert.ok(entry.outcome === 'failed' && entry.notSent);
    assert.deepEqual([entry.error.status, entry.error.code], [503, 'busy']);
    assert.ok(entry.error.idempotencyKey?.endsWith(i < 1_000 ? '/2' : '/3'));
  });
});

test('all batches of a call have its one deadline', async (context) => {
  let skipped = 0;
  const now = performance.now.bind(performance);
  context.mock.method(performance, 'now', () => now() + skipped);
  let sent = 0;
  const answer = async (): Promise<Response> => {
    sent++;
    skipped += 40_000;
    return Response.json({
      data: Array.from({ length: 1_000 }, (_, index) => ({ index, status: 404, error: { code: 'key_unknown' } })),
    });
  };
  const lookedUp = await client({ fetch: answer }).lookupAll(charge, newKeys(4_000), { deadlineMillis: 60_000 });

  assert.equal(sent, 2);
  assert.ok(lookedUp.slice(0, 2_000).every(({ outcome }) => outcome === 'unknown'));
  assert.ok(lookedUp.slice(2_000).every((row) => row.outcome === 'failed' && row.error.code === 'deadline_exceeded'));
});

test('an atomic batch mints all or none, and names its bad items', async () => {
  const ids = client();
  const [key = ''] = newKeys(1);
  await assert.rejects(ids.mintAll(charge, [{ key }, { key: 'x' }], { atomic: true }), (error) => {
    assert.ok(error instanceof CoatcheckError && error.code === 'batch_refused');
    assert.deepEqual(error.items.map((item) => [item.index, item.error.code]), [[1, 'key_malformed']]);
    return true;
  });
  assert.deepEqual(await ids.lookup(charge, key), { outcome: 'unknown' });
  await assert.rejects(ids.mintAll(charge, newKeys(1_001).map((key) => ({ key })), { atomic: true }), RangeError);
});

test('503 is asked again no earlier than Retry-After says', async () => {
  const { proxy, ids } = await faulty();
  const [key = ''] = newKeys(1);
  proxy.faults.push(
    { kind: 'answer', status: 503, headers: { 'retry-after': '1' } },
    { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
    { kind: 'answer', status: 409, headers: { 'retry-after': '0' }, body: BUSY },
  );

  assert.equal((await ids.mint(charge, { key })).outcome, 'minted');
  const times = proxy.to('/v1/ids').map(({ at }) => at);
  assert.equal(times.length, 4);
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 1_000);
  assert.ok((times[2] ?? 0) - (times[1] ?? 0) >= 1_000);
});

test('a call ends at once with the last problem if Retry-After is beyond its deadline', async () => {
  const { proxy, ids } = await faulty();
  proxy.faults.push({ kind: 'answer', status: 503, headers: { 'retry-after': '3600' }, body: BUSY });
  const began = performance.now();

  await assert.rejects(ids.resolve(charge, UNKNOWN), (error) => {
    assert.ok(error instanceof CoatcheckError);
    assert.deepEqual([error.status, error.code, error.requestId], [503, 'busy', 'req_12345678']);
    assert.equal(error.retryAfterMillis, 3_600_000);
    return true;
  });
  assert.ok(performance.now() - began < 5_000);
  assert.equal(proxy.seen.length, 1);
});

test('a mint without names whose answer was lost is done once', async () => {
  const { proxy, ids } = await faulty();
  proxy.faults.push({ kind: 'lose' }, { kind: 'lose' });
  const first = mapping(await ids.mint(message));

  const sent = proxy.to('/v1/ids');
  assert.equal(sent.length, 3);
  assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 1);
  const second = mapping(await ids.mint(message));
  assert.deepEqual(await newest(2), [second.id, first.id]);
});

test('a batch without names whose answer was lost is done once', async () => {
  const { proxy, ids } = await faulty();
  const before = mapping(await ids.mint(message)).id;
  proxy.faults.push({ kind: 'lose' });
  const minted = await ids.mintAll(message, [{}, {}, {}]);

  assert.equal(proxy.to('/v1/ids/batch').length, 2);
  assert.deepEqual(minted.map(({ outcome }) => outcome), ['minted', 'minted', 'minted']);
  const all = [before, ...minted.map((entry) => mapping(entry).id)];
  assert.deepEqual(new Set(await newest(4)), new Set(all));
});

test('an idempotency key may have any visible character', async () => {
  const { proxy, ids } = await faulty();
  const prefix = crypto.randomUUID();
  const keys = ['c', '"c"', 'b\\c', 'b\\\\c', 'b"c', 'b\\"c', '"'.repeat(164)].map((key) => prefix + key);
  const mint = async (idempotencyKey: string) => mapping(await ids.mint(message, {}, { idempotencyKey })).id;
  const first = await Promise.all(keys.map(mint));

  assert.equal(new Set(first).size, keys.length);
  assert.deepEqual(await Promise.all(keys.map(mint)), first);
  const sent = new Set(proxy.seen.map(({ headers }) => headers['idempotency-key']));
  assert.ok(sent.has(`${prefix}b\\c`) && sent.has(`"${prefix}b\\\\\\"c"`), 'as the client for Java does');
});

test('an idempotency key that no request can have is refused without one', async () => {
  const ids = client({ fetch: () => assert.fail('sent') });
  for (const idempotencyKey of ['заказ-1', '', 'order 7781', 'x'.repeat(201)]) {
    await assert.rejects(ids.mint(message, {}, { idempotencyKey }), RangeError);
    await assert.rejects(ids.mintAll(message, [{}], { idempotencyKey }), RangeError);
  }
});

test('three sends of a message with one client ID are one message', async () => {
  const { proxy, ids } = await faulty();
  proxy.faults.push({ kind: 'lose' }, { kind: 'answer', status: 503, headers: { 'retry-after': '0' } });
  const names = { clientId: crypto.randomUUID(), clientNamespace: 'channel-42' };
  const first = await ids.mint(message, names);

  assert.equal(first.outcome, 'existing');
  assert.equal(mapping(await ids.mint(message, names)).id, mapping(first).id);
  assert.equal(proxy.to('/v1/ids')[0]?.headers['idempotency-key'], undefined);
  const other = await ids.mint(message, { ...names, clientNamespace: 'channel-43' });
  assert.notEqual(mapping(other).id, mapping(first).id);
  await assert.rejects(ids.mint(message, { clientNamespace: 'x' }), TypeError);
});

test('a call without an answer ends at its deadline, and one by its signal', async () => {
  const { proxy, ids } = await faulty({ deadlineMillis: 400 });
  proxy.faults.push({ kind: 'stall' }, { kind: 'stall' });
  const began = performance.now();
  await assert.rejects(
    ids.mint(message, {}, { idempotencyKey: 'order-7781' }),
    (error) =>
      error instanceof CoatcheckError &&
      error.code === 'deadline_exceeded' &&
      error.status === 0 &&
      error.idempotencyKey === 'order-7781',
  );
  assert.ok(performance.now() - began >= 399);

  const controller = new AbortController();
  const reason = new Error('the visitor left');
  const call = ids.resolve(charge, UNKNOWN, { signal: controller.signal, deadlineMillis: 60_000 });
  controller.abort(reason);
  await assert.rejects(call, reason);
});

test('a signal that lives long keeps nothing of the calls that are over', async () => {
  const { signal } = new AbortController();
  const kept = (): number =>
    Object.getOwnPropertySymbols(signal)
      .map((symbol) => Number((Reflect.get(signal, symbol) as { size?: number } | undefined)?.size ?? 0))
      .reduce((sum, size) => sum + size, getEventListeners(signal, 'abort').length);
  const before = kept();

  await client({ apiKey: () => API_KEY }).resolve(charge, UNKNOWN, { signal });
  assert.equal(kept(), before);
});

test('a redirect and a server without trusted TLS are no answer, and are asked once', async () => {
  const { proxy, ids } = await faulty();
  proxy.faults.push({ kind: 'answer', status: 301, headers: { location: `${URL_OF_GATEWAY}/v1/ids/${UNKNOWN}` } });
  const asked = async (call: Promise<unknown>, code: string, status: number): Promise<void> => {
    const error = await call.catch((failed: unknown) => failed);
    assert.ok(error instanceof CoatcheckError);
    assert.deepEqual([error.code, error.status, statusOf(error)], [code, status, 500]);
  };
  await asked(ids.resolve(charge, UNKNOWN), 'answer_invalid', 301);
  assert.equal(proxy.seen.length, 1);

  let sent = 0;
  const opaque = Object.defineProperties(Response.error(), { type: { value: 'opaqueredirect' } });
  const inBrowser = client({ fetch: async () => (sent++, opaque) });
  await asked(inBrowser.resolve(charge, UNKNOWN), 'answer_invalid', 0);
  assert.equal(sent, 1);

  const counting: typeof fetch = (...request) => (sent++, fetch(...request));
  const plain = client({ url: proxy.url.replace('http:', 'https:'), fetch: counting });
  await asked(plain.resolve(charge, UNKNOWN), 'tls_refused', 0);
  assert.equal(sent, 2);
  const codes = ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'];
  for (const code of [...codes, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    const cause = Object.assign(new Error(), { code });
    const ids = client({ fetch: () => (sent++, Promise.reject(new TypeError('fetch failed', { cause }))) });
    await asked(ids.resolve(charge, UNKNOWN), 'tls_refused', 0);
  }
  assert.equal(sent, 7);
});

test('500 look-ups of one request are one call, and the same question is asked once', async () => {
  const { proxy, ids } = await faulty();
  const keys = newKeys(500);
  await client().mintAll(charge, keys.map((key) => ({ key })));
  const collector = ids.collector();
  const rows = await Promise.all(
    keys.map(async (key) => {
      await Promise.resolve();
      return { key, id: await collector.publicId(charge, key), again: await collector.publicId(charge, BigInt(key)) };
    }),
  );

  assert.equal(proxy.seen.length, 1);
  assert.equal(proxy.seen[0]?.path, '/v1/ids/lookup');
  for (const row of rows) {
    assert.ok(charge.is(row.id));
    assert.equal(row.id, row.again);
  }
  const resolved = await Promise.all(rows.map(({ id }) => collector.resolve(charge, String(id))));
  assert.deepEqual(resolved.map((answer) => mapping(answer).key), keys);
  assert.equal(proxy.seen.length, 2);
  assert.equal(await collector.publicId(charge, newKeys(1)[0] ?? ''), undefined);
});

test('a failure is no answer of a collector: the next question is asked', async () => {
  const { proxy, ids } = await faulty();
  const [key = ''] = newKeys(1);
  await client().mint(charge, { key });
  const collector = ids.collector();
  proxy.faults.push({ kind: 'answer', status: 500, body: BUSY.replace('busy', 'internal') });

  await assert.rejects(collector.publicId(charge, key), CoatcheckError);
  assert.ok(charge.is(await collector.publicId(charge, key)));
});

test('a revoked public ID is gone, and its key keeps it', async () => {
  const ids = client();
  const minted = await ids.mintAll(charge, newKeys(2).map((key) => ({ key })));
  const [one, two] = minted.map((entry) => mapping(entry)) as [ReturnType<typeof mapping>, ReturnType<typeof mapping>];
  const id = one.id as PublicId<'charge'>;

  const revoked = await ids.revoke(id, 'leaked');
  assert.ok(revoked.outcome === 'revoked' && revoked.endedReason === 'leaked');
  assert.deepEqual(await ids.revoke(id, 'again'), revoked);
  assert.deepEqual(await ids.resolve(charge, id), revoked);
  const lookedUp = await ids.lookup(charge, one.key);
  assert.ok(lookedUp.outcome === 'revoked' && lookedUp.id === id);
  assert.equal(await ids.collector().publicId(charge, one.key), undefined);
  assert.equal((await ids.mint(charge, { key: one.key })).outcome, 'ended');
  assert.deepEqual(
    (await ids.revokeAll([two.id, UNKNOWN])).map(({ outcome }) => outcome),
    ['revoked', 'unknown'],
  );
});

test('a name belongs to one public ID until it is removed', async () => {
  const ids = client();
  const [key = '', other = ''] = newKeys(2);
  const one = mapping(await ids.mint(charge, { key })).id;
  const two = mapping(await ids.mint(charge, { key: other })).id;
  const alias = { scheme: 'legacy', value: key } as const;

  assert.equal(await ids.putAlias(one, alias), true);
  assert.equal(await ids.putAlias(one, alias), false);
  await assert.rejects(
    ids.putAlias(two, alias),
    (error) => error instanceof CoatcheckError && error.code === 'alias_conflict',
  );
  assert.equal((await ids.mint(charge, { key: other, legacyId: key })).outcome, 'conflict');
  await ids.deleteAlias(one, alias);
  assert.deepEqual(await ids.legacy(charge, key), { outcome: 'unknown' });
  const [found, none] = await ids.legacyAll(charge, [key, other]);
  assert.deepEqual([found?.outcome, none?.outcome], ['unknown', 'unknown']);
});

test('whole URLs are resolved and published', async () => {
  const ids = client();
  const [key = ''] = newKeys(1);
  const { id } = mapping(await ids.mint(charge, { key }));

  const resolved = await ids.resolveUrl(`/charges/${id}?expand=customer`);
  assert.equal(resolved.resolved, `/charges/${key}?expand=customer`);
  assert.deepEqual(resolved.ids, [{ id, type: 'charge', key, status: 'active' }]);
  assert.equal(await ids.publishUrl(`/charges/${key}`, '/charges/{charge}'), `/charges/${id}`);
  const [one, two] = await ids.resolveUrlAll([`/a/${id}`, `/a/${UNKNOWN}`]);
  assert.ok(one?.outcome === 'resolved' && one.resolved === `/a/${key}`);
  assert.ok(two?.outcome === 'failed' && two.error.code === 'public_id_unknown');
});

test('a URL is resolved however much its encoding grows', async () => {
  const ids = client();
  const [key = ''] = newKeys(1);
  const { id } = mapping(await ids.mint(charge, { key }));
  const rest = `?next=${'/'.repeat(4_000)}`;

  assert.equal((await ids.resolveUrl(`/charges/${id}${rest}`)).resolved, `/charges/${key}${rest}`);
  await assert.rejects(
    ids.resolveUrl(`/charges/${UNKNOWN}${rest}`),
    (error) => error instanceof CoatcheckError && error.status === 404 && error.code === 'public_id_unknown',
  );
});

test('a text that no request can have fails alone', async () => {
  const ids = client();
  const [key = ''] = newKeys(1);
  const { id } = mapping(await ids.mint(charge, { key, legacyId: key }));
  const outcomes = (all: readonly { outcome: string; error?: { code: string; status: number } }[]) =>
    all.map(({ outcome, error }) => (error === undefined ? outcome : `${error.code} ${error.status}`));
  const refused = (code: string) => ({ name: 'CoatcheckError', code, status: 400 });

  for (const bad of ['a\0', '\ud800', 'b\udc00b']) {
    const urls = await ids.resolveUrlAll([`/${bad}`, `/a/${id}`]);
    assert.deepEqual(outcomes(urls), ['url_invalid 400', 'resolved']);
    const rows = await ids.lookupAll(charge, [key, bad, key]);
    assert.deepEqual(outcomes(rows), ['found', 'key_malformed 400', 'found']);
    assert.deepEqual(outcomes(await ids.legacyAll(charge, [bad, key])), ['legacy_id_malformed 400', 'found']);
    const clientId = crypto.randomUUID();
    const minted = await ids.mintAll(message, [
      { clientId: bad, clientNamespace: 'x' },
      { clientId, clientNamespace: bad },
      { clientId, clientNamespace: 'x' },
    ]);
    assert.deepEqual(outcomes(minted), ['alias_malformed 400', 'field_invalid 400', 'minted']);

    await assert.rejects(ids.resolveUrl(`/${bad}`), refused('url_invalid'));
    await assert.rejects(ids.lookup(charge, bad), refused('key_malformed'));
    await assert.rejects(ids.legacy(charge, bad), refused('legacy_id_malformed'));
    await assert.rejects(ids.putAlias(id, { scheme: 'legacy', value: bad }), refused('alias_malformed'));
  }
});

test('keys are made without public IDs, and rise', async () => {
  const keys = await client().makeKeys({ scheme: 'snowflake', count: 100 });

  assert.equal(new Set(keys).size, 100);
  assert.deepEqual([...keys].sort((one, other) => Number(BigInt(one) - BigInt(other))), keys);
});

test('a problem has the status, the code and the ID of its request', async () => {
  await assert.rejects(client({ apiKey: () => 'coatcheck_wrong' }).resolve(charge, UNKNOWN), (error) => {
    assert.ok(error instanceof CoatcheckError);
    assert.equal(error.status, 401);
    assert.match(error.code, /^[a-z_]+$/);
    assert.match(error.requestId ?? '', /^req_/);
    return true;
  });
  let asked = 0;
  const rotating = client({ apiKey: async () => (asked++, API_KEY) });
  await rotating.resolve(charge, UNKNOWN);
  await rotating.resolve(charge, UNKNOWN);
  assert.equal(asked, 2);
});

test("an answer that is not a gateway's is no outcome", async () => {
  const { proxy, ids } = await faulty();
  proxy.faults.push(
    { kind: 'answer', status: 200, body: '<html>' },
    { kind: 'answer', status: 404, body: '<html>' },
    { kind: 'answer', status: 200, body: '{"data":[{"index":0,"status":404},{"index":0,"status":404}]}' },
  );
  for (const call of [
    ids.resolve(charge, UNKNOWN),
    ids.resolve(charge, UNKNOWN),
    ids.lookupAll(charge, ['1', '2']),
  ]) {
    await assert.rejects(call, (error) => error instanceof CoatcheckError && error.code === 'answer_invalid');
  }
});

test('a key that JavaScript may have rounded is refused', async () => {
  await assert.rejects(client().lookup(charge, 2 ** 53), RangeError);
  await assert.rejects(client().collector().publicId(charge, 514719115370328064), RangeError);
  for (const url of ['ftp://ids', 'http://user:secret@ids', 'http://:secret@ids', 'http://ids/#a', 'http://ids/?a', 'ids']) {
    assert.throws(() => client({ url }));
  }
});

async function newest(count: number): Promise<string[]> {
  const answer = await fetch(`${URL_OF_GATEWAY}/v1/ids?type=message&limit=${count}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

function sizes(seen: readonly { body: string }[], field: string): number[] {
  return seen
    .map(({ body }) => (JSON.parse(body) as Record<string, unknown[]>)[field]?.length ?? 0)
    .sort((one, other) => one - other);
}
