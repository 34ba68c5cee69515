import { type IncomingMessage, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a request that has a fault. */
export type Fault =
  /** Answered by the proxy; the gateway gets nothing. */
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Done by the gateway, and the answer is lost with its connection. */
  | { readonly kind: 'lose' }
  /** Never answered; the gateway gets nothing. */
  | { readonly kind: 'stall' };

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** By `performance.now()`. */
  readonly at: number;
}

/** Stands before a gateway, passes on what it is sent, unless a fault is next, and keeps what it saw. */
export class FaultProxy {
  readonly seen: Seen[] = [];
  /** Those of the next requests, in order. */
  readonly faults: Fault[] = [];
  readonly #server;

  private constructor(gateway: string) {
    this.#server = createServer(async (incoming, answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) {
        chunks.push(chunk as Buffer);
      }
      const body = Buffer.concat(chunks);
      const { method = '', url = '', headers } = incoming;
      this.seen.push({ method, path: url, headers, body: body.toString(), at: performance.now() });
      const fault = this.faults.shift();
      if (fault?.kind === 'stall') {
        return;
      }
      if (fault?.kind === 'answer') {
        answer.writeHead(fault.status, fault.headers).end(fault.body);
        return;
      }
      const passed = request(gateway + url, { method, headers: { ...headers, host: new URL(gateway).host } }, (response) => {
        if (fault?.kind === 'lose') {
          response.resume().on('end', () => incoming.socket.destroy());
          return;
        }
        answer.writeHead(response.statusCode ?? 502, response.headers);
        answer.flushHeaders();
        response.pipe(answer);
      });
      passed.on('error', () => answer.destroy());
      answer.on('close', () => passed.destroy());
      passed.end(body);
    });
  }

  static async before(gateway: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(gateway);
    await new Promise<void>((listening) => proxy.#server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The requests to a path. */
  to(path: string): Seen[] {
    return this.seen.filter((seen) => seen.path === path);
  }

  /** Breaks every connection, as a network does; new ones are taken. */
  breakAll(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.breakAll();
    await new Promise((closed) => this.#server.close(closed));
  }
}
