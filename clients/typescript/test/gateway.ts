import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Coatcheck, type CoatcheckOptions, type Found, type Mapping, type Minted, publicIdType } from '@coatcheck/client';
import { FaultProxy } from './fault-proxy.js';

/** Where the gateway of the tests is, and an API key that may do all. */
export const URL_OF_GATEWAY = setting('COATCHECK_URL');
export const API_KEY = setting('COATCHECK_API_KEY');

export const charge = publicIdType('charge', 'ch');
export const user = publicIdType('user', 'usr');
/** Makes its keys. */
export const message = publicIdType('message', 'msg');

function setting(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set; TypeScriptClientTest starts a gateway and sets it`);
  return value;
}

export function client(options: Partial<CoatcheckOptions> = {}): Coatcheck {
  return new Coatcheck({ url: URL_OF_GATEWAY, apiKey: API_KEY, ...options });
}

/** A proxy that ends with the tests of its file, and a client of it. */
export async function faulty(options: Partial<CoatcheckOptions> = {}): Promise<{ proxy: FaultProxy; ids: Coatcheck }> {
  const proxy = await FaultProxy.before(URL_OF_GATEWAY);
  after(() => proxy[Symbol.asyncDispose]());
  return { proxy, ids: client({ url: proxy.url, ...options }) };
}

/** Registers a type; a repetition changes nothing. */
export async function register(name: string, body: object): Promise<void> {
  const answer = await fetch(`${URL_OF_GATEWAY}/v1/types/${name}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.text());
}

export async function registerAll(): Promise<void> {
  await register('charge', { prefix: 'ch', key: 'bigint', generate: 'none', legacy: {} });
  await register('user', { prefix: 'usr', key: 'bigint', generate: 'none' });
  await register('message', { prefix: 'msg', key: 'bigint', client_names: 'required' });
}

let lastKey = BigInt(Date.now()) * 1_000_000n + BigInt(process.pid % 1000) * 1_000n;

/** Keys that no other test has. */
export function newKeys(count: number): string[] {
  lastKey += 1_000_000n;
  return Array.from({ length: count }, (_, i) => String(lastKey + BigInt(i)));
}

export function mapping<T extends string>(minted: Minted<T> | Found<T> | { outcome: string }): Mapping<T> {
  assert.ok('id' in minted, JSON.stringify(minted));
  return minted as Mapping<T>;
}
