/** Runs the requested benchmarks, and prints the results as Markdown for RESULTS.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** Each returns its section as Markdown, or prints its results. */
const benches: Record<string, () => Promise<unknown>> = {
  publish: async () => await (await import('./publish.ts')).benchPublish(),
  previews: async () => await (await import('./previews.ts')).benchPreviews(),
  edge: async () => await (await import('./edge.ts')).benchEdge(),
  tls: async () => await (await import('./tls.ts')).benchTls(),
  counting: async () => await (await import('./counting/counting.ts')).benchCounting(),
  git: async () => await (await import('./git.ts')).benchGit(),
  workers: async () => await (await import('./workers.ts')).benchWorkers(),
  scale: async () => (await import('./scale.ts')).benchScale(),
  api: async () => await (await import('./api.ts')).benchApi(),
  scan: async () => await (await import('./scan.ts')).benchScan(),
  screenshots: async () => await (await import('./screenshots.ts')).benchScreenshots(),
};

/** Only run if requested by name. */
const long: Record<string, () => Promise<unknown>> = {
  sites: async () => await (await import('./sites.ts')).benchSites(),
  hour: async () => await (await import('./hour/hour.ts')).benchHour(),
};

const usage = `npm run bench                  runs all benchmarks: ${Object.keys(benches).join(', ')}
npm run bench -- publish       runs one benchmark
npm run bench -- sites         runs an edge with 1,000, 100,000 and 1,000,000 sites
npm run bench -- hour          runs an hour of mixed load (FRONTAGE_MINUTES sets another duration)
  --quick                      all but edge, counting, scan and hour: runs a small part, to see that they work
  --pairs                      publish: runs only what is compared with a bare build
  --write                      writes the results into tools/bench/RESULTS.md`;

/** Headings of the sections in RESULTS.md. */
const headings: Record<string, string> = {
  publish: 'Publishing',
  previews: 'Building previews',
  tls: 'TLS',
  counting: 'Counting',
  git: 'Git',
  hour: 'An hour',
  workers: 'Builds workers',
  api: 'API',
  scan: 'The scan at publish',
  screenshots: 'Screenshots',
  sites: 'Many sites',
  scale: 'The queue of builds, simulated',
};
const results = join(import.meta.dirname, 'RESULTS.md');

/** Replaces the section with this heading, or appends it. */
function replaceSection(text: string, name: string, section: string): string {
  const parts = text.split(/^(?=## )/m);
  const at = parts.findIndex((part) => part.startsWith(`## ${name}\n`));
  const whole = `## ${name}\n\n${section.trim()}\n\n`;
  parts.splice(at < 0 ? parts.length : at, at < 0 ? 0 : 1, whole);
  return `${parts.join('').trimEnd()}\n`;
}

const words = process.argv.slice(2);
const asked = words.filter((word) => word in benches || word in long);
const unknown = words.filter((word) => !asked.includes(word) && !['--quick', '--pairs', '--write'].includes(word));
if (unknown.length > 0) {
  const isHelp = unknown.every((word) => ['--help', '-h', 'help'].includes(word));
  console.log(isHelp ? usage : `Unknown arguments: ${unknown.join(' ')}\n\n${usage}`);
  process.exit(isHelp ? 0 : 1);
}

for (const name of asked.length > 0 ? asked : Object.keys(benches)) {
  const section = await (benches[name] ?? long[name])?.();
  if (typeof section !== 'string') continue;
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB, Node ${process.version}`;
  const whole = `\`npm run bench -- ${name}\` on ${machine}.\n\n${section}`;
  console.log(`\n## ${name}\n\n${whole}`);
  if (process.argv.includes('--write'))
    await writeFile(results, replaceSection(await readFile(results, 'utf8'), headings[name] ?? name, whole));
}
process.exit(0);
