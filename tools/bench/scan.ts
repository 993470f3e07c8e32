/** The cost of a version's scan by itself, with its files in memory. */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { scanVersion } from '#activities/scanning/version.ts';
import { median } from './measure.ts';

const rounds = 5;

/** Returns the section for RESULTS.md. */
export async function benchScan(): Promise<string> {
  const kinds: [string, Map<string, string>][] = [
    ['500 pages of 8 KiB', new Map(pages(500))],
    ['500 pages of 8 KiB, each with its own script of 4 KiB', new Map([...pages(500), ...scripts(500, 4_096)])],
    ['10 pages and one script of 2 MiB', new Map([...pages(10), ...scripts(1, 2 * 1024 * 1024)])],
  ];
  const rows: string[] = [];
  for (const [what, files] of kinds) {
    const took: number[] = [];
    for (let round = 0; round < rounds; round++) took.push(await scan(files));
    rows.push(`| ${what} | ${median(took).toFixed(0)} ms |`);
  }
  return ['| version | scan time |', '| --- | --- |', ...rows].join('\n');
}

async function scan(files: Map<string, string>): Promise<number> {
  const content = new Map<string, Buffer>();
  const list = [...files].map(([path, text]) => {
    const bytes = Buffer.from(text);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    content.set(sha256, bytes);
    return { path, sha256, bytes: bytes.length, encodings: [] };
  });
  const store = {
    read: async (sha256: string) => Readable.from([content.get(sha256) ?? Buffer.alloc(0)]),
    readAll: async (sha256: string) => content.get(sha256),
  };
  const address = new URL('http://bench.sites.localhost');
  const place = { address, hosts: new Set([address.hostname]), platform: 'sites.localhost' };
  const began = performance.now();
  const { read, found } = await scanVersion(store, { files: list, earlier: [], place, beat: () => {} });
  const took = performance.now() - began;
  if (read !== list.length || found.length > 0) throw new Error(`read ${read}, found ${JSON.stringify(found)}`);
  return took;
}

function* pages(count: number): Generator<[string, string]> {
  const paragraph = '<p>What we bake today, and <a href="/bread/">where to find us</a>.</p>\n';
  for (let n = 0; n < count; n++) {
    const head = `<!doctype html><html lang="en"><head><title>Page ${n}</title><script src="/s${n}.js"></script></head>`;
    const form = '<form action="/f/form_1" method="post"><input name="word"><button>Send</button></form>';
    yield [`p${n}/index.html`, `${head}<body><h1>${n}</h1>${paragraph.repeat(110)}${form}</body></html>`];
  }
}

function* scripts(count: number, bytes: number): Generator<[string, string]> {
  for (let n = 0; n < count; n++) {
    let text = '';
    while (text.length < bytes) {
      const name = `f${randomBytes(6).toString('hex')}`;
      text += `export function ${name}(list) { return list.map((one) => document.querySelector('#' + one)?.textContent ?? ''); }\n`;
    }
    yield [`s${n}.js`, text];
  }
}
