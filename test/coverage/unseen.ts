/** `unseen.ts <folder of a record>` prints what the product declares and the record does not have, as JSON. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declaredItems } from './declared.ts';

const folder = process.argv[2] ?? '';
const seen = new Set(
  readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')),
);
const declared = await declaredItems();
const claims = Map.groupBy(
  declared.flatMap(({ name, seenAs }) => seenAs.map((line) => ({ name, line }))),
  ({ line }) => line,
);
const unclear = [...claims.values()].filter((some) => some.length > 1).map((some) => some.map(({ name }) => name));
if (unclear.length > 0) throw new Error(`recorded alike: ${JSON.stringify(unclear)}`);
const unseen = declared.filter(({ seenAs }) => !seenAs.some((line) => seen.has(line))).map(({ name }) => name);
console.log(JSON.stringify(unseen));
process.exit(0);
