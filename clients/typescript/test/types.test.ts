import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPublicId, type PublicId, type Resolved, publicIdType, statusOf } from '@coatcheck/client';

const charge = publicIdType('charge', 'ch');
const user = publicIdType('user', 'usr');

function refund(id: PublicId<'charge'>): string {
  return `refunded ${id}`;
}

/** Names every outcome: a new one is an error of the compiler here and in applications. */
function status(resolved: Resolved<'charge'>): number {
  switch (resolved.outcome) {
    case 'found':
    case 'merged':
      return resolved.key === '' ? 500 : 200;
    case 'revoked':
    case 'erased':
      return 410;
    case 'unknown':
    case 'wrong_type':
      return 404;
    case 'malformed':
      return resolved.position < 0 ? 500 : 400;
  }
}

// Each line that the compiler has to refuse says so; a line that it takes is an error then.
test('the compiler refuses the public ID of another type, and a text that nobody checked', () => {
  const id = charge.of(formatPublicId('ch', 1n));
  const userId = user.of(formatPublicId('usr', 1n));
  assert.equal(refund(id), `refunded ${id}`);
  // @ts-expect-error: a user is no charge
  refund(userId);
  // @ts-expect-error: a text is no public ID
  refund('ch_00000000000000000000002B');
  // @ts-expect-error: nor is the ID of any type
  refund(formatPublicId('ch', 1n));
  const text: string = id;
  const any: PublicId = id;
  assert.equal(text, any);
  const outcomes: Resolved<'charge'>[] = [
    { outcome: 'found', id, type: 'charge', key: '1', createdAt: '' },
    { outcome: 'merged', id, type: 'charge', key: '1', createdAt: '', mergedInto: id },
    { outcome: 'revoked' },
    { outcome: 'erased' },
    { outcome: 'unknown' },
    { outcome: 'wrong_type', prefix: 'usr' },
    { outcome: 'malformed', reason: 'check', position: 25 },
  ];
  assert.deepEqual(outcomes.map(statusOf), [200, 200, 410, 410, 404, 404, 400]);
  assert.deepEqual(outcomes.map(statusOf), outcomes.map(status));
});
