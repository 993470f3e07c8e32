/** Programs that a hostile site could bring: what each does, and the ends it may come to. */
import { crc32, deflateSync } from 'node:zlib';
import type { BuildLimits } from '../../providers/sandbox/sandbox.ts';
import { type Site, site, siteThatRuns, siteThatWrites } from './world.ts';

export type End = 'built' | 'build_failed' | 'build_timeout' | 'plan_limit';
export type HostileProgram = {
  what: string;
  files: Site;
  /** Each is right; where there are several, the machine's speed decides. */
  ends: End[];
  says?: RegExp;
  limits?: Partial<BuildLimits>;
  /** Of those that CI runs, too. */
  brief?: boolean;
};

const megabyte = 1_048_576;
const short = { timeoutMs: 6_000 };
const imports = `import fs from 'node:fs'; import net from 'node:net'; import os from 'node:os'; import { spawn } from 'node:child_process';`;
/** Runs as the configuration is read, before the framework has done anything. */
const runs = (code: string) => siteThatRuns(`${imports}\n${code}`);
/** Runs when the output is written, with `dist` as its folder. */
const writes = (code: string) => siteThatWrites(code);
const tells = (expression: string) => writes(`fs.writeFileSync(dist + 'told.json', JSON.stringify(${expression}));`);
const tried = (code: string) =>
  `(() => { try { ${code}; return 'DONE'; } catch (e) { return e.code ?? String(e); } })()`;

const time: HostileProgram[] = [
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

const processes: HostileProgram[] = [
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

const memory: HostileProgram[] = [
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
    files: runs(`const f = fs.openSync('/site/fill', 'w'); for (;;) fs.writeSync(f, Buffer.alloc(1048576));`),
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

const output: HostileProgram[] = [
  {
    what: 'links to a file of the machine',
    files: writes(`fs.symlinkSync('/etc/passwd', dist + 'leak.txt');`),
    ends: ['build_failed'],
    says: /symbolic link/,
  },
  {
    what: 'makes its whole output a link',
    files: writes(
      `fs.cpSync(dist, '/tmp/else', { recursive: true }); fs.rmSync(dist, { recursive: true }); fs.symlinkSync('/tmp/else', dist.slice(0, -1));`,
    ),
    ends: ['build_failed'],
    says: /symbolic link/,
    brief: true,
  },
  {
    what: 'makes its output a link to the processes',
    files: writes(`fs.rmSync(dist, { recursive: true }); fs.symlinkSync('/proc/1', dist.slice(0, -1));`),
    ends: ['build_failed'],
    brief: true,
  },
  {
    what: 'links hard to a file of the image',
    files: writes(`fs.linkSync('/etc/passwd', dist + 'hard.txt');`),
    ends: ['build_failed'],
  },
  {
    what: 'links hard within its output',
    files: writes(`fs.linkSync(dist + 'index.html', dist + 'twin.html');`),
    ends: ['built'],
  },
  {
    what: 'leaves a socket',
    files: writes(`await new Promise((r) => net.createServer().listen(dist + 'door', r));`),
    ends: ['build_failed'],
    says: /a socket/,
  },
  {
    what: 'leaves a folder that nobody may read',
    files: writes(
      `fs.mkdirSync(dist + 'shut'); fs.writeFileSync(dist + 'shut/x', ''); fs.chmodSync(dist + 'shut', 0);`,
    ),
    ends: ['build_failed'],
    says: /shut/,
    brief: true,
  },
  {
    what: 'leaves a file that nobody may read',
    files: writes(`fs.writeFileSync(dist + 'shut.txt', 'x'); fs.chmodSync(dist + 'shut.txt', 0);`),
    ends: ['build_failed'],
    says: /shut\.txt/,
  },
  {
    what: 'leaves a name that is no UTF-8',
    files: writes(`fs.writeFileSync(Buffer.concat([Buffer.from(dist), Buffer.from([0x61, 0xff, 0xfe])]), 'x');`),
    ends: ['build_failed'],
    says: /UTF-8|name/,
    brief: true,
  },
  {
    what: 'leaves a name with a line break',
    files: writes(`fs.writeFileSync(dist + 'a\\nb', 'x');`),
    ends: ['build_failed'],
    says: /control character/,
  },
  {
    what: 'leaves a name that turns the terminal',
    files: writes(`fs.writeFileSync(dist + '\\u001b[2Jx', 'x');`),
    ends: ['build_failed'],
    says: /control character/,
  },
  {
    what: 'leaves a name with a backslash',
    files: writes(`fs.writeFileSync(dist + '..\\\\..\\\\evil', 'x');`),
    ends: ['build_failed'],
    says: /backslash/,
  },
  {
    what: 'leaves a name as long as names can be',
    files: writes(`fs.writeFileSync(dist + 'n'.repeat(255), 'x');`),
    ends: ['built'],
  },
  {
    what: 'leaves a path longer than paths may be',
    files:
      writes(`fs.mkdirSync(dist + 'd'.repeat(200) + '/' + 'e'.repeat(200) + '/' + 'f'.repeat(200) + '/' + 'g'.repeat(200) + '/' + 'h'.repeat(250), { recursive: true });
      fs.writeFileSync(dist + 'd'.repeat(200) + '/' + 'e'.repeat(200) + '/' + 'f'.repeat(200) + '/' + 'g'.repeat(200) + '/' + 'h'.repeat(250) + '/x', 'x');`),
    ends: ['build_failed'],
    says: /path|name|long/,
  },
  {
    what: 'leaves folders in folders, too deep to name',
    files: writes(
      `process.chdir(dist); for (let i = 0; i < 3000; i++) { fs.mkdirSync('deep'); process.chdir('deep'); } fs.writeFileSync('x', ''); process.chdir('/');`,
    ),
    ends: ['build_failed'],
    says: /deep|path/,
    brief: true,
  },
  {
    what: 'leaves a hundred thousand empty folders',
    files: writes(`for (let i = 0; i < 100000; i++) fs.mkdirSync(dist + i);`),
    ends: ['plan_limit', 'build_failed', 'built', 'build_timeout'],
    limits: { timeoutMs: 20_000 },
  },
  {
    what: 'leaves too many files',
    files: writes(`for (let i = 0; i < 3000; i++) fs.writeFileSync(dist + i, '');`),
    ends: ['plan_limit'],
    says: /more files/,
    brief: true,
  },
  {
    what: 'leaves a huge file of nothing',
    files: writes(`fs.writeFileSync(dist + 'hole', ''); fs.truncateSync(dist + 'hole', 2e12);`),
    ends: ['plan_limit', 'build_failed'],
    says: /larger|EFBIG/,
  },
  {
    what: 'leaves many files that are each allowed',
    files: writes(`for (let i = 0; i < 20; i++) { fs.writeFileSync(dist + i, ''); fs.truncateSync(dist + i, 9e6); }`),
    ends: ['plan_limit'],
    says: /site is larger/,
  },
  {
    what: 'takes its output away',
    files: writes('fs.rmSync(dist, { recursive: true });'),
    ends: ['build_failed'],
    says: /no index\.html/,
  },
  {
    what: 'puts a file in the place of its output',
    files: writes(`fs.rmSync(dist, { recursive: true }); fs.writeFileSync(dist.slice(0, -1), 'x');`),
    ends: ['build_failed'],
    says: /no index\.html|folder/,
  },
];

const log: HostileProgram[] = [
  {
    what: 'talks without end',
    files: runs(`for (;;) try { fs.writeSync(1, 'blah '.repeat(9999) + '\\n'); } catch {}`),
    ends: ['build_timeout'],
    limits: { timeoutMs: 4_000, logBytesMax: 50_000 },
    brief: true,
  },
  {
    what: 'talks on stderr without a line break',
    files: runs(`for (;;) try { fs.writeSync(2, 'x'.repeat(50000)); } catch {}`),
    ends: ['build_timeout'],
    limits: { timeoutMs: 4_000, logBytesMax: 50_000 },
  },
  {
    what: 'fakes the end of the log',
    files: writes(`for (let i = 0; i < 200; i++) console.log('\\0' + 'A'.repeat(i) + '\\0\\0');`),
    ends: ['built'],
  },
  {
    what: 'sends commands to the terminal',
    files: writes(
      `console.log('\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u001b]52;c;cm0gLXJm\\u0007 harmless words');`,
    ),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'says what is no text',
    files: writes(`fs.writeSync(1, Buffer.from([0, 255, 254, 0xc0, 0x80, 0xed, 0xa0, 0x80, 10]));`),
    ends: ['built'],
  },
];

const verdicts: HostileProgram[] = [
  {
    what: 'gives its own reason, a long one',
    files: runs(
      `try { fs.writeSync(3, JSON.stringify({ message: '\\u001b[31m' + 'w'.repeat(12000) })); } catch {} process.exit(1);`,
    ),
    ends: ['build_failed'],
  },
  {
    what: 'gives reasons without end',
    files: runs(`for (;;) try { fs.writeSync(3, 'r'.repeat(60000)); } catch {}`),
    ends: ['build_timeout', 'build_failed'],
    limits: short,
  },
  {
    what: 'says that it is built, and is not',
    files: runs(
      `for (const fd of [0, 1, 2, 3]) try { fs.writeSync(fd, '{"status":"built"}'); } catch {} process.exit(0);`,
    ),
    ends: ['build_failed'],
  },
  {
    what: 'writes a tar of its own into the way out',
    files:
      writes(`const head = (name, type) => { const b = Buffer.alloc(512); b.write(name); b.write('0000644', 100); b.write('00000000000', 124); b.write(type, 156); b.write('ustar\\x0000', 257);
        b.fill(32, 148, 156); let sum = 0; for (const x of b) sum += x; b.write(sum.toString(8).padStart(6, '0') + '\\0 ', 148); return b; };
      for (const path of ['/proc/1/fd/1', '/proc/1/fd/0', '/proc/1/fd/2', '/proc/' + process.ppid + '/fd/1']) for (const [name, type] of [['dist/null', '3'], ['dist/pipe', '6'], ['dist/../../evil', '0'], ['/etc/evil', '2']])
        try { fs.writeFileSync(path, head(name, type)); } catch {}`),
    ends: ['built', 'build_failed'],
    brief: true,
  },
  {
    what: 'reads and writes the memory of process 1',
    files:
      writes(`let told = []; try { const maps = fs.readFileSync('/proc/1/maps', 'latin1'); const at = [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)];
      const mem = fs.openSync('/proc/1/mem', 'r+'); for (const [, from, to] of at.slice(0, 200)) { const start = BigInt('0x' + from); const size = Math.min(Number(BigInt('0x' + to) - start), 65536);
        const b = Buffer.alloc(size); try { fs.readSync(mem, b, 0, size, start); if (b.includes('built')) fs.writeSync(mem, Buffer.from('b'), 0, 1, start + BigInt(b.indexOf('built'))); } catch {} } told.push('OPENED'); } catch (e) { told.push(e.code); }`),
    ends: ['built', 'build_failed'],
  },
  {
    what: 'lets process 1 be debugged, and gives it orders',
    files: writes(`try { process.kill(1, 'SIGUSR1'); } catch {} await new Promise((r) => setTimeout(r, 700));
      const open = await fetch('http://127.0.0.1:9229/json').then((a) => a.text(), () => 'REFUSED'); fs.writeFileSync(dist + 'told.json', JSON.stringify(open));`),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'hooks the loading of modules',
    files: runs(
      `import { register } from 'node:module'; register('data:text/javascript,export async function load(u, c, n) { if (u.includes("tar-stream")) return { format: "module", source: "export const pack = 1", shortCircuit: true }; return n(u, c); }');`,
    ),
    ends: ['built', 'build_failed'],
  },
  {
    what: 'poisons what all objects have',
    files: runs(
      `Object.prototype.status = 'built'; Object.prototype.message = 'x'; Object.prototype.then = undefined;`,
    ),
    ends: ['built', 'build_failed'],
  },
  {
    what: 'writes over the packages and the runner',
    files: tells(
      `['/opt/frontage/runner/supervisor.mjs', '/opt/frontage/node_modules/astro/package.json', '/usr/bin/node', '/etc/passwd', '/lib/x'].map((p) => { try { fs.appendFileSync(p, ' '); return 'WRITTEN'; } catch (e) { return e.code; } })`,
    ),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'starts a runner of its own',
    files: writes(`const { spawnSync } = await import('node:child_process');
      spawnSync(process.execPath, ['/opt/frontage/runner/supervisor.mjs'], { input: '{"siteUrl":"x","endOfLog":"y"}\\n', stdio: ['pipe', 1, 2], timeout: 4000, env: { FRONTAGE_ROOT: '/tmp', PATH: '/usr/bin' } });`),
    ends: ['built', 'build_failed'],
  },
];

const outside: HostileProgram[] = [
  {
    what: 'looks for a network',
    files:
      writes(`const connect = (o) => new Promise((done) => { const s = net.connect({ timeout: 1500, ...o }, () => done('OPEN')); s.on('error', (e) => done(e.code)); s.on('timeout', () => done('TIMEOUT')); });
      const dgram = await import('node:dgram'); const dns = await import('node:dns/promises');
      const udp = await new Promise((done) => dgram.createSocket('udp4').send('x', 53, '169.254.169.254', (e) => done(e?.code ?? 'OPEN')));
      const all = await Promise.all([['169.254.169.254', 80], ['172.17.0.1', 22], ['10.0.2.2', 22], ['8.8.8.8', 53], ['127.0.0.1', HOST_PORT], ['::1', HOST_PORT]].map(([host, port]) => connect({ host, port })));
      const names = await Promise.all(['metadata.google.internal', 'host.docker.internal', 'example.com'].map((n) => dns.lookup(n).then(() => 'OPEN', (e) => e.code)));
      const doors = await Promise.all(['\\0HOST_DOOR', '/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock'].map((path) => connect({ path })));
      fs.writeFileSync(dist + 'told.json', JSON.stringify([udp, ...all, ...names, ...doors]));`),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'looks for secrets in all environments and open files',
    files:
      writes(`const see = (p) => { try { return fs.readFileSync(p, 'latin1').slice(0, 100000); } catch (e) { return e.code; } }; const told = [JSON.stringify(process.env)];
      for (const pid of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n))) { for (const f of ['environ', 'cmdline', 'status', 'mountinfo', 'cgroup']) told.push(see('/proc/' + pid + '/' + f));
        for (const l of ['cwd', 'root', 'exe']) try { told.push(fs.readlinkSync('/proc/' + pid + '/' + l)); } catch {}
        let fds = []; try { fds = fs.readdirSync('/proc/' + pid + '/fd'); } catch {} for (const fd of fds) try { told.push(fs.readlinkSync('/proc/' + pid + '/fd/' + fd)); } catch {} }
      for (const p of ['/root/.npmrc', '/home', '/etc/shadow', '/run/secrets', '/proc/1/root/etc/shadow', '/proc/keys', '/proc/kcore']) told.push(p === '/proc/kcore' ? '' : see(p));
      fs.writeFileSync(dist + 'told.json', JSON.stringify(told));`),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'turns the switches of the kernel',
    files:
      tells(`['/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/sys/kernel/hostname', '/sys/fs/cgroup/release_agent', '/sys/fs/cgroup/memory/release_agent', '/sys/fs/cgroup/cgroup.procs', '/sys/fs/cgroup/memory/memory.limit_in_bytes', '/proc/1/oom_score_adj']
      .map((p) => { try { fs.writeFileSync(p, 'x'); return 'WRITTEN ' + p; } catch (e) { return e.code; } })`),
    ends: ['built'],
    brief: true,
  },
];

export const hostilePrograms = [...time, ...processes, ...memory, ...output, ...log, ...verdicts, ...outside];

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
