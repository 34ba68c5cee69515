// Writes the files of the recipes, as the README shows them, to the folder code: each block of code whose first line
// names a file.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const here = new URL('./', import.meta.url);
const code = new URL('code/', here);
const readme = readFileSync(new URL('../README.md', here), 'utf8');
const names = [];
mkdirSync(code, { recursive: true });
for (const [, block] of readme.matchAll(/^```\w+\n([^]*?)^```$/gm)) {
  const name = /^(?:\/\/|--) ([\w.-]+\.\w+)\n/.exec(block)?.[1];
  if (name !== undefined) {
    writeFileSync(new URL(name, code), block);
    names.push(name);
  }
}
copyFileSync(new URL('charges.ts', here), new URL('charges.ts', code));
console.log(names.join('\n'));
