import { type Coatcheck, CoatcheckError, type PublicIdType, statusOf } from '@coatcheck/client';
import fastify, { type FastifyInstance } from 'fastify';
import type { PrismaClient } from '../generated/client.js';
import { channel, message } from './ids.js';

/** The newest messages of a channel that one answer has. */
const PAGE = 500;

const POST = {
  body: {
    type: 'object',
    required: ['clientId', 'author', 'text'],
    properties: {
      clientId: { type: 'string', format: 'uuid' },
      author: { type: 'string', minLength: 1, maxLength: 64 },
      text: { type: 'string', minLength: 1, maxLength: 4_000 },
    },
  },
} as const;

/** What a device sends: the client ID is its own, made when the message was written. */
export interface Draft {
  readonly clientId: string;
  readonly author: string;
  readonly text: string;
}

/** The HTTP server of the chat. The world sees public IDs, the database keys. */
export function server(prisma: PrismaClient, ids: Coatcheck): FastifyInstance {
  const app = fastify();
  app.setErrorHandler((error, request, reply) => {
    request.log.error(error);
    return error instanceof CoatcheckError ? reply.code(statusOf(error)).send() : reply.send(error);
  });

  /** The key behind a public ID in a URL; a wrong type, a typo and an ended ID are refused. */
  async function key<T extends string>(type: PublicIdType<T>, text: string): Promise<bigint> {
    const found = await ids.resolve(type, text);
    if (!('key' in found)) {
      throw Object.assign(new Error(`The public ID is ${found.outcome}.`), { statusCode: statusOf(found) });
    }
    return BigInt(found.key);
  }

  app.post<{ Body: { name: string } }>('/channels', async ({ body }, reply) => {
    const { id, key } = await ids.mint(channel);
    await prisma.channel.create({ data: { id: BigInt(key), name: body.name } });
    return reply.code(201).send({ id, name: body.name });
  });

  /** Sent again, it answers 200 with the message that is there. */
  app.post<{ Params: { id: string }; Body: Draft }>('/channels/:id/messages', { schema: POST }, async (request, reply) => {
    const { clientId, author, text } = request.body;
    const channelId = await key(channel, request.params.id);
    const minted = await ids.mint(message, { clientId, clientNamespace: request.params.id });
    if (!('key' in minted)) {
      return reply.code(410).send();
    }
    const id = BigInt(minted.key);
    const { count } = await prisma.message.createMany({
      data: [{ id, channelId, author, text }],
      skipDuplicates: true,
    });
    const row = await prisma.message.findUniqueOrThrow({ where: { id } });
    return reply.code(count === 1 ? 201 : 200).send({ id: minted.id, author: row.author, text: row.text });
  });

  /** In the order of arrival: no clock of a device has a say. */
  app.get<{ Params: { id: string } }>('/channels/:id/messages', async ({ params }) => {
    const channelId = await key(channel, params.id);
    const rows = await prisma.message.findMany({ where: { channelId }, orderBy: { id: 'desc' }, take: PAGE });
    const collector = ids.collector();
    const messages = await Promise.all(
      rows.map(async ({ id, author, text }) => ({ id: await collector.publicId(message, id), author, text })),
    );
    return messages.filter(({ id }) => id !== undefined).reverse();
  });

  app.get<{ Params: { id: string } }>('/messages/:id', async ({ params }, reply) => {
    const row = await prisma.message.findUnique({ where: { id: await key(message, params.id) } });
    return row === null ? reply.code(404).send() : { id: params.id, author: row.author, text: row.text };
  });

  /** For good: the public ID answers 410 from now on, and the text is gone. */
  app.delete<{ Params: { id: string } }>('/messages/:id', async ({ params }, reply) => {
    const id = await key(message, params.id);
    await prisma.message.deleteMany({ where: { id } }); // first: after the revocation a repetition finds no key
    await ids.revoke(message.of(params.id), 'deleted by its author');
    return reply.code(204).send();
  });

  return app;
}
