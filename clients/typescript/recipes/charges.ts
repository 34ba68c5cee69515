/** A table with 500 rows, in memory. */
const rows = new Map<string, { id: string; cents: number }>();
for (let i = 0; i < 500; i++) {
  const id = String(514719115370328064n + BigInt(i));
  rows.set(id, { id, cents: i });
}

export const charges = {
  all: async () => [...rows.values()],
  get: async (key: string) => rows.get(key),
};
