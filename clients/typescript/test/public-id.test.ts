import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatPublicId, parsePublicId, PublicIdError, publicIdType, tokenOf } from '@coatcheck/client/public-id';

/** The vectors that hold every client and the gateway; beside the sources unless the environment says where. */
const VECTORS =
  process.env['COATCHECK_VECTORS'] ??
  new URL('../../../src/test/resources/vectors/', import.meta.url).pathname;

function vectors<R>(file: string): R[] {
  const rows = JSON.parse(readFileSync(`${VECTORS}/public-id/${file}`, 'utf8')) as R[];
  assert.ok(rows.length > 20);
  return rows;
}

test('each valid vector is read and written as it is', () => {
  for (const row of vectors<{ text: string; prefix: string; token_hex: string; bucket: number }>('valid.json')) {
    const parsed = parsePublicId(row.text);
    assert.ok(parsed.outcome === 'valid', row.text);
    assert.equal(parsed.prefix, row.prefix);
    assert.equal(tokenOf(parsed.id).toString(16).padStart(32, '0'), row.token_hex);
    assert.equal(tokenOf(parsed.id) & 1023n, BigInt(row.bucket));
    assert.equal(formatPublicId(row.prefix, BigInt(`0x${row.token_hex}`)), row.text);
  }
});

test('each invalid vector is refused with its reason and position', () => {
  for (const row of vectors<{ text: string; reason: string; position: number; why: string }>('invalid.json')) {
    assert.deepEqual(
      parsePublicId(row.text),
      { outcome: 'malformed', reason: row.reason, position: row.position },
      row.why,
    );
  }
});

test('every wrong character and every swap is found', () => {
  const id = formatPublicId('ch', 0x8e2f4b1d9c7a6053f1e2d3c4b5a69788n);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  for (let i = 0; i < id.length; i++) {
    for (const other of alphabet) {
      const wrong = id.slice(0, i) + other + id.slice(i + 1);
      assert.equal(parsePublicId(wrong).outcome === 'valid', wrong === id, wrong);
    }
    for (let j = i + 1; j < id.length; j++) {
      const swapped = id.slice(0, i) + id[j] + id.slice(i + 1, j) + id[i] + id.slice(j + 1);
      assert.equal(parsePublicId(swapped).outcome === 'valid', swapped === id, swapped);
    }
  }
});

test('a type takes its own public IDs only', () => {
  const charge = publicIdType('charge', 'ch');
  const user = publicIdType('user', 'usr');
  const id = formatPublicId('ch', 1n);

  assert.deepEqual(charge.parse(id), { outcome: 'valid', id, prefix: 'ch' });
  assert.equal(charge.of(id), id);
  assert.equal(user.is(id), false);
  assert.deepEqual(user.parse(id), { outcome: 'wrong_type', prefix: 'ch' });
  assert.throws(
    () => user.of(id),
    (error) => error instanceof PublicIdError && error.reason === 'type',
  );
  assert.throws(
    () => charge.of(`${id} `),
    (error) => error instanceof PublicIdError && error.reason === 'alphabet' && error.position === id.length,
  );
  for (const none of [undefined, null, 42, {}, [id]]) {
    assert.deepEqual(charge.parse(none), { outcome: 'malformed', reason: 'length', position: 0 });
  }
});

test('a text that is no prefix makes no type and no public ID', () => {
  for (const prefix of ['', 'Ch', '1', 'a_', 'a__b', 'ch_!', 'a'.repeat(33)]) {
    assert.throws(() => publicIdType('charge', prefix), RangeError);
    assert.throws(() => formatPublicId(prefix, 0n), RangeError);
  }
  assert.throws(() => formatPublicId('ch', -1n), RangeError);
  assert.throws(() => formatPublicId('ch', 1n << 128n), RangeError);
});
