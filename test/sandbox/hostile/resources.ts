/** Programs that take time, processes and memory. */
import { crc32, deflateSync } from 'node:zlib';
import { site } from '#test/sandbox/fixture.ts';
import { type HostileProgram, megabyte, runs, short, tells, tried, writes } from './program.ts';

export const time: HostileProgram[] = [
  { what: 'spins for ever', files: runs('for (;;);'), ends: ['build_timeout'], limits: short, brief: true },
  {
    what: 'does not hear any signal',
    files: runs(`for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']) process.on(s, () => {});
      setInterval(() => {}, 1e6); await new Promise(() => {});`),
    ends: ['build_timeout'],
    limits: short,
    brief: true,
  },
  {
    what: 'spins in eight threads',
    files: runs(`import { Worker } from 'node:worker_threads';
      for (let i = 0; i < 8; i++) new Worker('for (;;);', { eval: true }); for (;;);`),
    ends: ['build_timeout'],
    limits: short,
  },
  {
    what: 'waits for what never comes',
    files: runs('await new Promise(() => {});'),
    ends: ['build_failed'],
    says: /exit code 13/,
  },
  {
    what: 'stops itself',
    files: runs(`process.kill(process.pid, 'SIGSTOP'); for (;;);`),
    ends: ['build_timeout'],
    limits: short,
  },
  {
    what: 'turns back its clocks and spins',
    files: runs(
      `Date.now = () => 0; performance.now = () => 0; process.hrtime = () => [0, 0]; globalThis.setTimeout = () => {}; for (;;);`,
    ),
    ends: ['build_timeout'],
    limits: short,
  },
  {
    what: 'matches a pattern that explodes',
    files: site({ 'src/pages/index.astro': `---\n/^(a+)+$/.test('a'.repeat(60) + '!');\n---\n<h1>Hi</h1>` }),
    ends: ['build_timeout'],
    limits: short,
  },
  {
    what: 'writes while it ends',
    files: writes(
      `process.on('exit', () => { for (let i = 0; i < 100; i++) fs.writeFileSync(dist + 'late' + i, 'x'); });`,
    ),
    ends: ['built'],
  },
];

export const processes: HostileProgram[] = [
  {
    what: 'multiplies without end',
    files:
      runs(`fs.writeFileSync('/tmp/bomb.mjs', "import { spawn } from 'node:child_process'; for (;;) { try { for (let i = 0; i < 2; i++) " +
      "spawn(process.execPath, ['/tmp/bomb.mjs'], { detached: true, stdio: 'ignore' }).on('error', () => {}); } catch {} await new Promise((r) => setTimeout(r, 10)); }");
      spawn(process.execPath, ['/tmp/bomb.mjs'], { detached: true, stdio: 'ignore' }).on('error', () => {}); await new Promise((r) => setTimeout(r, 1e6));`),
    ends: ['build_timeout', 'build_failed'],
    limits: { ...short, pidsMax: 64 },
    brief: true,
  },
  {
    what: 'leaves a process that holds the log open',
    files: writes(`const { spawn } = await import('node:child_process');
      spawn(process.execPath, ['-e', 'setInterval(() => console.log("still here"), 50)'], { detached: true, stdio: 'inherit' }).unref();`),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'leaves a process that goes on writing into the output',
    files: writes(`const { spawn } = await import('node:child_process');
      spawn(process.execPath, ['-e', 'const fs = require("fs"); for (let i = 0; ; i++) fs.writeFileSync(process.argv[1] + "index.html", "x".repeat(i % 5000))', dist], { detached: true, stdio: 'ignore' }).unref();
      await new Promise((r) => setTimeout(r, 300));`),
    ends: ['built', 'build_failed'],
    brief: true,
  },
  {
    what: 'kills all it can reach, process 1 first',
    files:
      writes(`for (const s of ['SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGABRT', 'SIGSEGV']) try { process.kill(1, s); } catch {}
      try { process.kill(-1, 'SIGTERM'); } catch {}`),
    ends: ['built', 'build_failed', 'build_timeout'],
    brief: true,
  },
  { what: 'aborts, as for a core dump', files: runs('process.abort();'), ends: ['build_failed'], says: /memory/ },
  {
    what: 'ends well before anything is built',
    files: runs('process.exit(0);'),
    ends: ['build_failed'],
    says: /no index\.html/,
  },
  {
    what: 'becomes another user',
    files: tells(`[${tried('process.setuid(0)')}, ${tried('process.setgid(0)')}, ${tried("process.seteuid('root')")}]`),
    ends: ['built'],
  },
  {
    what: 'opens files until there are none left',
    files: runs(`const held = []; for (;;) held.push(fs.openSync('/etc/passwd'));`),
    ends: ['build_failed', 'build_timeout'],
    limits: short,
  },
];

export const memory: HostileProgram[] = [
  {
    what: 'fills its heap',
    files: runs('const all = []; for (;;) all.push({ a: [all.length, {}] });'),
    ends: ['build_failed', 'build_timeout'],
    says: /memory|longer/,
    limits: { ...short, memoryBytes: 300 * megabyte },
    brief: true,
  },
  {
    what: 'fills memory beside its heap',
    files: runs(`const all = []; for (;;) all.push(Buffer.alloc(${16 * megabyte}, 1));`),
    ends: ['build_failed'],
    says: /memory/,
    limits: { memoryBytes: 300 * megabyte },
    brief: true,
  },
  {
    what: 'fills memory in many processes',
    files: runs(`const code = 'const all = []; for (;;) all.push(Buffer.alloc(4194304, 1));';
      await Promise.all(Array.from({ length: 6 }, () => new Promise((r) => spawn(process.execPath, ['-e', code], { stdio: 'ignore' }).on('exit', r).on('error', r))));`),
    ends: ['build_failed', 'built', 'build_timeout'],
    limits: { timeoutMs: 15_000, memoryBytes: 400 * megabyte },
  },
  {
    what: 'fills its temporary folder',
    files: runs(`const f = fs.openSync('/tmp/fill', 'w'); for (;;) fs.writeSync(f, Buffer.alloc(1048576));`),
    ends: ['build_failed'],
    says: /ENOSPC|memory/,
    limits: { memoryBytes: 400 * megabyte },
    brief: true,
  },
  {
    what: 'fills the folder of the site',
    files: runs(
      `const f = fs.openSync('/opt/frontage/site/fill', 'w'); for (;;) fs.writeSync(f, Buffer.alloc(1048576));`,
    ),
    ends: ['build_failed'],
    says: /ENOSPC|memory/,
    limits: { memoryBytes: 400 * megabyte },
  },
  {
    what: 'makes files until there can be no more',
    files: runs(`for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + i, '');`),
    ends: ['build_failed', 'build_timeout'],
    limits: { ...short, memoryBytes: 400 * megabyte },
  },
  {
    what: 'makes a post whose front matter unfolds without end',
    files: site({
      'src/content.config.ts': `import { defineCollection } from 'astro:content'; import { glob } from 'astro/loaders'; import { z } from 'astro/zod';
        export const collections = { posts: defineCollection({ loader: glob({ base: './src/content/posts', pattern: '*.md' }), schema: z.any() }) };`,
      'src/content/posts/a.md': `---\na0: &a0 [x, x]\n${Array.from({ length: 60 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}, *a${i}]`).join('\n')}\n---\nText`,
    }),
    ends: ['build_failed', 'build_timeout', 'built'],
    limits: { timeoutMs: 10_000, memoryBytes: 400 * megabyte },
  },
  {
    what: 'brings a picture of billions of points',
    files: site({
      'src/assets/bomb.png': blackPng(30_000),
      'src/pages/index.astro': `---\nimport { Image } from 'astro:assets';\nimport bomb from '../assets/bomb.png';\n---\n<Image src={bomb} alt="" width={100} height={100} />`,
    }),
    ends: ['build_failed', 'build_timeout', 'built'],
    limits: { timeoutMs: 20_000, memoryBytes: 600 * megabyte },
    brief: true,
  },
  {
    what: 'brings a picture just below that',
    files: site({
      'src/assets/bomb.png': blackPng(16_000),
      'src/pages/index.astro': `---\nimport { Image } from 'astro:assets';\nimport bomb from '../assets/bomb.png';\n---\n<Image src={bomb} alt="" width={100} height={100} />`,
    }),
    ends: ['build_failed', 'built', 'build_timeout'],
    limits: { timeoutMs: 20_000, memoryBytes: 600 * megabyte },
  },
];

/** A black square of one bit a point: a hundred kilobytes that are gigabytes when unfolded. */
function blackPng(side: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 1;
  const rows = deflateSync(Buffer.alloc((Math.ceil(side / 8) + 1) * side), { level: 1 });
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
