// Makes the calls of a file through the generated client, and prints for each what the client read
// from the answer, as JSON. Arguments: the URL of the gateway, an API key, and the file.
import * as client from './client';

declare const process: { argv: string[] };
declare function require(module: 'fs'): { readFileSync(file: string, encoding: string): string };

interface Call {
  operation: string;
  parameters: Record<string, string | null>;
  times: string[];
  body: unknown;
  bodySchema: string | null;
}

const generated = client as unknown as Record<string, any>;

function argumentsOf(call: Call): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(call.parameters)) {
    if (value !== null) {
      values[name] = call.times.includes(name) ? new Date(value) : value;
    }
  }
  // A schema without fields has no class.
  const read = call.bodySchema === null ? undefined : generated[`${call.bodySchema}FromJSON`];
  if (call.body !== null && call.bodySchema !== null && read !== undefined) {
    const name = call.bodySchema[0].toLowerCase() + call.bodySchema.slice(1);
    values[name] = read(call.body);
  } else if (call.body !== null) {
    values.body = call.body;
  }
  return values;
}

async function valueOf(apis: any[], call: Call): Promise<unknown> {
  const api = apis.find((each) => typeof each[`${call.operation}Raw`] === 'function');
  try {
    const response = await api[`${call.operation}Raw`](argumentsOf(call));
    const value = await response.value();
    return value instanceof Blob ? await value.text() : value;
  } catch (error) {
    if (!(error instanceof client.ResponseError)) {
      throw error;
    }
    const body = await error.response.text();
    return body === '' ? null : client.ProblemFromJSON(JSON.parse(body));
  }
}

async function main(): Promise<void> {
  const [basePath, accessToken, file] = process.argv.slice(2);
  const fetchApi = (input: RequestInfo | URL, init?: RequestInit) =>
    fetch(input, { ...init, redirect: 'manual' });
  const configuration = new client.Configuration({ basePath, accessToken, fetchApi });
  const apis = Object.keys(generated)
    .filter((name) => name.endsWith('Api'))
    .map((name) => new generated[name](configuration));
  for (const call of JSON.parse(require('fs').readFileSync(file, 'utf8')) as Call[]) {
    const value = (await valueOf(apis, call)) ?? null;
    console.log(JSON.stringify({ operation: call.operation, value }));
  }
}

void main();
