import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { Coatcheck, type PublicId, formatPublicId, publicIdType } from '@coatcheck/client';
import { charges } from './code/charges.js';

type Get = (path: string) => Promise<{ status: number; body: string }>;

const GATEWAY = process.env['COATCHECK_URL'] ?? '';
const API_KEY = process.env['COATCHECK_API_KEY'] ?? '';
const charge = publicIdType('charge', 'ch');
const user = publicIdType('user', 'usr');
const ids = new Coatcheck({ url: GATEWAY, apiKey: API_KEY });

/** The paths that the code under test asked the gateway for. */
const asked: string[] = [];
let proxy: Server;
/** What the gateway answers the code of the recipes, where it refuses the call itself. */
let refusal: number | undefined;
let publicIds: PublicId<'charge'>[];

/** Puts a counter between the code of the recipes, which reads the environment, and the gateway. */
before(async () => {
  proxy = createServer((incoming, answer) => {
    asked.push(incoming.url ?? '');
    if (refusal !== undefined) {
      answer.writeHead(refusal, { 'retry-after': '3600' }).end('{"code":"refused","detail":"Refused."}');
      return;
    }
    const passed = request(GATEWAY + incoming.url, { method: incoming.method, headers: incoming.headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  process.env['COATCHECK_URL'] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  await register('charge', { prefix: 'ch', key: 'bigint', generate: 'none', legacy: {} });
  await register('user', { prefix: 'usr', key: 'bigint', generate: 'none' });
  await register('purchase', { prefix: 'pur', key: 'bigint' });
  const rows = await charges.all();
  const minted = await ids.mintAll(charge, rows.map(({ id }) => ({ key: id })));
  publicIds = minted.map((entry) => ('id' in entry ? entry.id : assert.fail(JSON.stringify(entry))));
});

after(() => {
  proxy.closeAllConnections();
  proxy.close();
});

async function register(name: string, body: object): Promise<void> {
  const answer = await fetch(`${GATEWAY}/v1/types/${name}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.text());
}

test('express', async () => {
  const { app } = await import('./code/express.js');
  const server = app.listen(0, '127.0.0.1');
  after(() => server.close());
  await new Promise((listening) => server.once('listening', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await serves(async (path) => {
    const answer = await fetch(url + path);
    return { status: answer.status, body: await answer.text() };
  });
  server.closeAllConnections();
});

test('fastify', async () => {
  const { app } = await import('./code/fastify.js');
  await serves(async (path) => {
    const answer = await app.inject(path);
    return { status: answer.statusCode, body: answer.body };
  });
});

test('hono', async () => {
  const { app } = await import('./code/hono.js');
  await serves(async (path) => {
    const answer = await app.request(path);
    return { status: answer.status, body: await answer.text() };
  }, 500);
});

test('prisma', async () => {
  const { prisma, ...recipe } = await import('./code/prisma.js');
  await stores(recipe, (sql) => prisma.$executeRawUnsafe(sql));
  await prisma.$disconnect();
});

test('drizzle', async () => {
  const { pool, ...recipe } = await import('./code/drizzle.js');
  await stores(recipe, (sql) => pool.query(sql));
  await pool.end();
});

/** A page of 500 rows is one call; a row is found by its public ID alone. */
async function serves(get: Get, laterStatus = 503): Promise<void> {
  asked.length = 0;
  const page = JSON.parse((await get('/charges')).body) as { id: string; cents: number }[];
  assert.deepEqual(page, publicIds.map((id, cents) => ({ id, cents })));
  assert.deepEqual(asked, ['/v1/ids/lookup']);

  const id = publicIds[7] ?? '';
  assert.deepEqual(JSON.parse((await get(`/charges/${id}`)).body), { id, cents: 7 });
  const other = await ids.mint(user, { key: '7' });
  const key = String(9_000_000_000n + BigInt(Math.floor(Math.random() * 1e9)));
  const ended = await ids.mint(charge, { key });
  assert.ok('id' in other && 'id' in ended);
  await ids.revoke(ended.id);
  asked.length = 0;
  assert.equal((await get(`/charges/${other.id}`)).status, 404);
  assert.equal((await get(`/charges/${id.slice(0, -1)}`)).status, 400);
  assert.equal((await get('/charges/514719115370328064')).status, 400);
  assert.deepEqual(asked, []);
  assert.equal((await get(`/charges/${formatPublicId('ch', 0n)}`)).status, 404);
  assert.equal((await get(`/charges/${ended.id}`)).status, 410);
  try {
    for (const [status, answered] of [[401, 500], [404, 500], [429, laterStatus]] as const) {
      refusal = status;
      assert.equal((await get(`/charges/${id}`)).status, answered, `the gateway answers ${status}`);
    }
  } finally {
    refusal = undefined;
  }
}

/** Rows are stored under keys, and seen under public IDs. */
async function stores(
  recipe: {
    buy: (cents: number) => Promise<string>;
    find: (text: string) => Promise<{ id: bigint; cents: number } | null>;
    page: () => Promise<{ id: string | undefined; cents: number }[]>;
  },
  execute: (sql: string) => Promise<unknown>,
): Promise<void> {
  await execute('drop table if exists purchase');
  await execute(readFileSync(new URL('../code/purchase.sql', import.meta.url), 'utf8'));
  const bought = [await recipe.buy(100), await recipe.buy(200), await recipe.buy(300)];
  const found = await recipe.find(bought[1] ?? '');
  assert.equal(found?.cents, 200);
  assert.equal(typeof found.id, 'bigint');
  assert.equal(await recipe.find(publicIds[0] ?? ''), null);
  asked.length = 0;
  assert.deepEqual(
    await recipe.page(),
    bought.map((id, i) => ({ id, cents: (i + 1) * 100 })).reverse(),
  );
  assert.deepEqual(asked, ['/v1/ids/lookup']);
}
