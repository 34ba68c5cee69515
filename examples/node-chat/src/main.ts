import { Coatcheck } from '@coatcheck/client';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../generated/client.js';
import { server } from './server.js';

const { COATCHECK_URL, COATCHECK_API_KEY, DATABASE_URL, PORT = '3000' } = process.env;
if (!COATCHECK_URL || !COATCHECK_API_KEY || !DATABASE_URL) {
  throw new Error('Set COATCHECK_URL, COATCHECK_API_KEY and DATABASE_URL.');
}
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: DATABASE_URL }) });
const ids = new Coatcheck({ url: COATCHECK_URL, apiKey: COATCHECK_API_KEY });
console.log(await server(prisma, ids).listen({ port: Number(PORT) }));
