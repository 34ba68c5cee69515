import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { Coatcheck } from '@coatcheck/client';
import { PrismaPg } from '@prisma/adapter-pg';
import type { FastifyInstance } from 'fastify';
import { PrismaClient } from '../generated/client.js';
import { Device, uuidV7 } from '../src/device.js';
import { message } from '../src/ids.js';
import { server } from '../src/server.js';

const HOUR_MILLIS = 3_600_000;
const { COATCHECK_URL = '', COATCHECK_API_KEY: apiKey = '', DATABASE_URL: connectionString } = process.env;

/** Passes requests on, counts them, and loses the next answers after the work is done. */
class Network {
  readonly paths: string[] = [];
  answersToLose = 0;
  readonly #server: Server;

  constructor(to: string) {
    this.#server = createServer((incoming, answer) => {
      this.paths.push(`${incoming.method} ${incoming.url}`);
      const passed = request(to + incoming.url, { method: incoming.method, headers: incoming.headers }, (response) => {
        if (this.answersToLose > 0) {
          this.answersToLose--;
          response.resume().on('end', () => incoming.socket.destroy());
        } else {
          answer.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(answer);
        }
      });
      incoming.pipe(passed);
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async url(): Promise<string> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
}

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) });
const toGateway = new Network(COATCHECK_URL);
let app: FastifyInstance;
let toChat: Network;
let chat: string;

before(async () => {
  await register('channel', { prefix: 'chn', key: 'bigint' });
  await register('message', { prefix: 'msg', key: 'bigint', client_names: 'required' });
  const statements = readFileSync('tables.sql', 'utf8').split(';').filter((statement) => statement.trim() !== '');
  for (const statement of ['drop table if exists message', 'drop table if exists channel', ...statements]) {
    await prisma.$executeRawUnsafe(statement);
  }
  app = server(prisma, new Coatcheck({ url: await toGateway.url(), apiKey }));
  toChat = new Network(await app.listen({ port: 0, host: '127.0.0.1' }));
  chat = await toChat.url();
});

after(async () => {
  toChat.close();
  await app.close();
  toGateway.close();
  await prisma.$disconnect();
});

async function register(name: string, body: object): Promise<void> {
  const answer = await fetch(`${COATCHECK_URL}/v1/types/${name}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.text());
}

async function newChannel(): Promise<string> {
  const answer = await fetch(`${chat}/channels`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'general' }),
  });
  return ((await answer.json()) as { id: string }).id;
}

async function messages(channel: string): Promise<{ id: string; author: string; text: string }[]> {
  return (await fetch(`${chat}/channels/${channel}/messages`)).json() as Promise<never>;
}

async function status(path: string, method = 'GET'): Promise<number> {
  return (await fetch(chat + path, { method })).status;
}

test('a message that was written offline and sent three times is one message', async () => {
  const channel = await newChannel();
  const device = new Device('ada');
  device.write(channel, 'hello');
  toChat.answersToLose = 2;
  toChat.paths.length = 0;
  toGateway.answersToLose = 1;

  const [id] = await device.send(chat);
  assert.equal(toChat.paths.length, 3);
  assert.deepEqual(await messages(channel), [{ id, author: 'ada', text: 'hello' }]);
  assert.equal(await prisma.message.count({ where: { author: 'ada' } }), 1);
});

test('what was not acknowledged is sent again later, and is still one message', async () => {
  const channel = await newChannel();
  const device = new Device('grace');
  device.write(channel, 'one');
  device.write(channel, 'two');
  toChat.answersToLose = 3;

  await assert.rejects(device.send(chat));
  assert.equal((await device.send(chat)).length, 2);
  assert.deepEqual((await messages(channel)).map(({ text }) => text), ['one', 'two']);
});

test('a network that falls silent ends a send, and loses nothing', async () => {
  const channel = await newChannel();
  const device = new Device('margaret', Date.now, 200);
  const silent = createServer(() => undefined);
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
  device.write(channel, 'one');

  await assert.rejects(device.send(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`));
  silent.closeAllConnections();
  silent.close();
  await device.send(chat);
  assert.deepEqual((await messages(channel)).map(({ text }) => text), ['one']);
});

test('a send beside another one sends nothing twice and drops nothing', async () => {
  const channel = await newChannel();
  const device = new Device('barbara');
  device.write(channel, 'one');
  device.write(channel, 'two');
  toChat.paths.length = 0;

  const [first, second] = await Promise.all([device.send(chat), device.send(chat)]);
  assert.equal(toChat.paths.length, 2);
  assert.equal(first.length, 2);
  assert.deepEqual(second, first);
  assert.deepEqual((await messages(channel)).map(({ text }) => text), ['one', 'two']);
  device.write(channel, 'three');
  assert.equal((await device.send(chat)).length, 1);
});

test('a message that is refused for good holds up no other one', async () => {
  const channel = await newChannel();
  const device = new Device('edsger');
  device.write(`${channel}x`, 'lost');
  device.write(channel, 'there');

  assert.equal((await device.send(chat)).length, 1);
  assert.deepEqual((await messages(channel)).map(({ text }) => text), ['there']);
  assert.deepEqual(device.refused.map(({ text }) => text), ['lost']);
});

test('the order is that of arrival, whatever the clocks of the devices say', async () => {
  const channel = await newChannel();
  const fast = new Device('fast', () => Date.now() + HOUR_MILLIS);
  const slow = new Device('slow', () => Date.now() - HOUR_MILLIS);
  fast.write(channel, 'first');
  slow.write(channel, 'second');
  fast.write(channel, 'third');
  slow.write(channel, 'fourth');

  await fast.send(chat);
  await slow.send(chat);
  assert.deepEqual((await messages(channel)).map(({ text }) => text), ['first', 'third', 'second', 'fourth']);
});

test('one client ID in two channels is two messages', async () => {
  const [one, two] = [await newChannel(), await newChannel()];
  const draft = { clientId: uuidV7(Date.now()), author: 'mallory', text: 'mine' };
  const sent = await Promise.all(
    [one, two].map((channel) =>
      fetch(`${chat}/channels/${channel}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(draft),
      }),
    ),
  );
  assert.deepEqual(sent.map((answer) => answer.status), [201, 201]);
  assert.notEqual((await messages(one))[0]?.id, (await messages(two))[0]?.id);
});

test('500 messages are one page, whose public IDs are one call', async () => {
  const channel = await newChannel();
  const device = new Device('bulk');
  const ids = new Coatcheck({ url: COATCHECK_URL, apiKey });
  device.write(channel, 'the first');
  await device.send(chat);
  const { channelId } = await prisma.message.findFirstOrThrow({ where: { author: 'bulk' } });
  const minted = await ids.mintAll(
    message,
    Array.from({ length: 499 }, () => ({ clientId: uuidV7(Date.now()), clientNamespace: channel })),
  );
  await prisma.message.createMany({
    data: minted.map((entry, i) => ({
      id: BigInt('key' in entry ? entry.key : assert.fail()),
      channelId,
      author: 'bulk',
      text: `${i}`,
    })),
  });
  toGateway.paths.length = 0;

  const page = await messages(channel);
  assert.equal(page.length, 500);
  assert.ok(page.every(({ id }) => message.is(id)));
  assert.deepEqual(toGateway.paths, [`GET /v1/ids/${channel}`, 'POST /v1/ids/lookup']);
});

test('the public ID of another type, a typo and a deleted message are refused', async () => {
  const channel = await newChannel();
  const device = new Device('alan');
  device.write(channel, 'oops');
  const [id = ''] = await device.send(chat);

  assert.equal(await status(`/messages/${id}`), 200);
  toGateway.paths.length = 0;
  assert.equal(await status(`/messages/${channel}`), 404);
  assert.equal(await status(`/messages/${id.slice(0, -1)}`), 400);
  assert.equal(await status(`/channels/${id}/messages`), 404);
  assert.deepEqual(toGateway.paths, []);
  assert.equal(await status(`/messages/${id}`, 'DELETE'), 204);
  assert.equal(await status(`/messages/${id}`), 410);
  assert.deepEqual(await messages(channel), []);
});

test('client IDs made offline are UUIDs of version 7 with the time of the device', () => {
  const id = uuidV7(1_795_305_600_123);
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(parseInt(id.replace('-', '').slice(0, 12), 16), 1_795_305_600_123);
});
