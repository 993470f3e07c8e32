/**
 * `npm run bench` measures everything, `npm run bench -- publish` one thing. What is measured is printed as it goes to RESULTS.md, and
 * goes there with `--write`.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** Each answers its section in Markdown, or prints what it has. */
const benches: Record<string, () => Promise<unknown>> = {
  publish: async () => await (await import('./publish.ts')).benchPublish(),
  edge: async () => await (await import('./edge.ts')).benchEdge(),
  counting: async () => await (await import('./counting.ts')).benchCounting(),
  git: async () => await (await import('./git.ts')).benchGit(),
};

/** Under which heading a section goes to RESULTS.md. */
const headings: Record<string, string> = { publish: 'Publishing', counting: 'Counting' };
const results = join(import.meta.dirname, 'RESULTS.md');

/** Puts the section in the place of the earlier one of its name, or at the end. */
function replaceSection(text: string, name: string, section: string): string {
  const parts = text.split(/^(?=## )/m);
  const at = parts.findIndex((part) => part.startsWith(`## ${name}\n`));
  const whole = `## ${name}\n\n${section.trim()}\n\n`;
  parts.splice(at < 0 ? parts.length : at, at < 0 ? 0 : 1, whole);
  return `${parts.join('').trimEnd()}\n`;
}

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = asked.filter((name) => !(name in benches));
if (unknown.length > 0) throw new Error(`There is no bench ${unknown}; there are ${Object.keys(benches).join(', ')}.`);

for (const name of asked.length > 0 ? asked : Object.keys(benches)) {
  const section = await benches[name]?.();
  if (typeof section !== 'string') continue;
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB, Node ${process.version}`;
  const whole = `\`npm run bench -- ${name}\` on ${machine}.\n\n${section}`;
  console.log(`\n## ${name}\n\n${whole}`);
  if (process.argv.includes('--write'))
    await writeFile(results, replaceSection(await readFile(results, 'utf8'), headings[name] ?? name, whole));
}
process.exit(0);
