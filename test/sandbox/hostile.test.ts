import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { build, hog, openKind, siteThatRuns, siteThatWrites } from './fixture.ts';
import { casesIn, describeFirst, describeKinds, inGroups, systemHas } from './kinds.ts';
import { outputOf } from './without-build.ts';

/** Command lines of this machine's processes that hold the text: what a build may have left running. */
function listProcesses(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(text));
}

const specials = [
  {
    what: 'a link to a file of the host',
    code: "fs.symlinkSync('/etc/passwd', dist + 'leak.txt');",
    says: /leak\.txt.*symbolic link/,
  },
  { what: 'a link to a folder', code: "fs.symlinkSync('/etc', dist + 'etc');", says: /dist\/etc.*symbolic link/ },
  {
    what: 'a socket',
    code: "await new Promise((r) => net.createServer().listen(dist + 'door', r));",
    says: /door.*a socket/,
  },
  {
    what: 'a home page that is a link',
    code: "fs.rmSync(dist + 'index.html'); fs.symlinkSync('/etc/passwd', dist + 'index.html');",
    says: /index\.html.*symbolic link/,
  },
  { what: 'a name with a line break', code: "fs.writeFileSync(dist + 'a\\nb', 'x');", says: /control character/ },
];

const heaps = [
  {
    what: 'too many files',
    code: 'for (let i = 0; i < 60; i++) fs.writeFileSync(dist + i, "x");',
    says: /more files than the limit \(50\)/,
  },
  {
    what: 'a file that is too large',
    code: 'fs.writeFileSync(dist + "big", Buffer.alloc(2e6));',
    says: /big exceeds/,
  },
  {
    what: 'a huge file of nothing',
    code: 'fs.writeFileSync(dist + "hole", ""); fs.truncateSync(dist + "hole", 2e12);',
    says: /hole exceeds|EFBIG/,
  },
  {
    what: 'a site that is too large',
    code: 'for (const n of [1,2,3,4,5]) fs.writeFileSync(dist + n, Buffer.alloc(9e5));',
    says: /site exceeds the size limit/,
  },
];
const small = { outputFilesMax: 50, fileBytesMax: 1_000_000, outputBytesMax: 3_000_000 };

/** Asks the network, and reads what there is of the host. */
const lookAround = (port: number) => `
  const connect = (host, port) => new Promise((done) => { const s = net.connect({ host, port, timeout: 3000 }, () => done('OPEN'));
    s.on('error', (e) => done(e.code)); s.on('timeout', () => done('TIMEOUT')); });
  fs.writeFileSync(dist + 'net.json', JSON.stringify({ local: await connect('127.0.0.1', ${port}),
    far: await connect('192.0.2.1', 80), name: await connect('example.com', 80), faces: Object.keys(os.networkInterfaces()) }));
  const see = (path) => { try { return fs.readFileSync(path, 'latin1'); } catch (e) { return e.code; } };
  const pids = fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n));
  fs.writeFileSync(dist + 'seen.json', JSON.stringify({ env: process.env, pids: pids.length, user: process.getuid(),
    environs: pids.map((p) => see('/proc/' + p + '/environ')), cmdlines: pids.map((p) => see('/proc/' + p + '/cmdline')),
    shadow: see('/etc/shadow'), home: see('/root/.npmrc'), passwd: see('/etc/passwd'),
    mounts: see('/proc/self/mountinfo').split('\\n').length,
    caps: /CapEff:\\s*(\\w+)/.exec(see('/proc/self/status'))[1], noNew: /NoNewPrivs:\\s*(\\d)/.exec(see('/proc/self/status'))[1],
    write: ['/opt/frontage/x', '/usr/x', '/etc/x', '/x'].map((p) => { try { fs.writeFileSync(p, ''); return 'WRITTEN'; } catch (e) { return e.code; } }) }));`;

describeKinds((kind) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openKind(kind);
  }, 300_000);
  afterAll(() => sandbox?.close());

  test('an endless build is stopped at its time limit', async () => {
    const started = performance.now();
    const { outcome } = await build(sandbox, siteThatRuns('for (;;);'), { limits: { timeoutMs: 2_000 } });
    expect(outcome).toMatchObject({
      code: 'build_timeout',
      limit: 'build_seconds',
      message: expect.stringContaining('2 seconds'),
    });
    // Its time began when its sandbox was there; all others have a minute.
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test('a build that exhausts memory fails for that reason, not for time', inGroups(kind), async () => {
    const { outcome } = await build(sandbox, hog, { limits: { memoryBytes: 300 * 1_048_576 } });
    expect(outcome).toMatchObject({ code: 'build_failed', message: expect.stringMatching(/memory limit .*300 MiB/) });
  });

  test('a build that fills its disk fails', async () => {
    const filler = siteThatRuns(`import fs from 'node:fs'; const f = fs.openSync('/tmp/fill', 'w');
      for (;;) fs.writeSync(f, Buffer.alloc(1048576));`);
    const { outcome } = await build(sandbox, filler, { limits: { memoryBytes: 512 * 1_048_576 } });
    expect(outcome).toMatchObject({ code: 'build_failed', message: expect.stringMatching(/ENOSPC|memory/) });
  });

  test('fork bombs are limited, and no process outlives the build', async () => {
    const mark = `bomb-${kind}-${process.pid}`;
    const bomb = siteThatRuns(`import { spawn } from 'node:child_process';
      const code = 'setInterval(() => {}, 1e6); "${mark}"'; let failed = 0;
      for (let i = 0; i < 400; i++) { const c = spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore' });
        c.on('error', () => failed++); }
      await new Promise((r) => setTimeout(r, 500)); console.log('REFUSED', failed > 0);`);
    const limits = { pidsMax: 120, timeoutMs: 8_000, memoryBytes: 2 * 1024 ** 3 };
    let most = 0;
    const counting = setInterval(() => (most = Math.max(most, listProcesses(mark).length)), 50);
    await build(sandbox, bomb, { limits }).finally(() => clearInterval(counting));
    // Of 400; threads count towards the limit, and Node has about seven.
    expect(most).toBeGreaterThan(3);
    expect(most).toBeLessThan(limits.pidsMax / 2);
    expect(listProcesses(mark)).toEqual([]);
  });

  test('builds have no network, and read no environment, process or file of the host', async () => {
    process.env.FRONTAGE_SECRET_PROBE = `probe-${process.pid}-secret`;
    onTestFinished(() => void delete process.env.FRONTAGE_SECRET_PROBE);
    const host = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1');
    onTestFinished(() => void host.close());
    await once(host, 'listening');
    const { port } = host.address() as { port: number };
    const { outcome, files, log } = await build(sandbox, siteThatWrites(lookAround(port)));
    const hasLoopback = kind !== 'namespaces' || systemHas('ip');
    expect(outcome, log).toEqual({ status: 'built' });
    expect(JSON.parse(String(files.get('net.json')))).toEqual({
      local: hasLoopback ? 'ECONNREFUSED' : 'ENETUNREACH',
      far: 'ENETUNREACH',
      name: expect.stringMatching(/^(EAI_AGAIN|ENOTFOUND)$/),
      faces: hasLoopback ? ['lo'] : [],
    });
    const text = String(files.get('seen.json'));
    expect(text).not.toContain('-secret');
    const seen = JSON.parse(text);
    expect(Object.keys(seen.env).sort()).toEqual(
      expect.arrayContaining(['HOME', 'LANG', 'NODE_ENV', 'NO_COLOR', 'PATH', 'TMPDIR', 'TZ']),
    );
    expect(Object.keys(seen.env).filter((name) => /FRONTAGE|DATABASE|TEMPORAL|TOKEN|SECRET|USER/.test(name))).toEqual(
      [],
    );
    expect(seen.pids).toBeLessThan(8);
    expect(seen).toMatchObject({ shadow: 'ENOENT', home: 'ENOENT', caps: '0000000000000000', noNew: '1' });
    expect(seen.passwd).not.toContain('/bin/');
    expect(seen.user).not.toBe(0);
    expect(seen.write).not.toContain('WRITTEN');
  });

  test('site code that writes to the output channel delivers no file', async () => {
    const forger = siteThatWrites(`
      const name = Buffer.alloc(512); name.write('../../evil.html'); 
      for (const fd of [1, 2]) try { fs.writeSync(fd, name); } catch {}
      try { fs.writeFileSync('/proc/1/fd/1', name); } catch {}
      try { process.kill(1, 'SIGKILL'); } catch {}`);
    const { outcome, files, log } = await build(sandbox, forger);
    expect([...files.keys()].filter((path) => path !== 'index.html')).toEqual([]);
    // It did write, and its bytes became a part of the log.
    expect(log).toContain('evil.html');
    expect(outcome.status === 'failed' ? outcome.code : outcome.status).toMatch(/^(built|build_failed)$/);
  });

  test('concurrent builds do not see each other', async () => {
    const watcher = (name: string) =>
      siteThatWrites(`
        fs.writeFileSync('/tmp/mark-${name}', ''); fs.writeFileSync('/opt/frontage/site/mark-${name}', '');
        const seen = new Set(); const end = performance.now() + 1500;
        while (performance.now() < end) { for (const d of ['/tmp', '/opt/frontage/site', '/dev/shm']) try { fs.readdirSync(d).forEach((n) => seen.add(n)); } catch {}
          fs.readdirSync('/proc').forEach((n) => /^\\d+$/.test(n) && seen.add('pid' + n)); await new Promise((r) => setTimeout(r, 50)); }
        fs.writeFileSync(dist + 'seen.json', JSON.stringify([...seen]));`);
    const [one, two] = await Promise.all([build(sandbox, watcher('one')), build(sandbox, watcher('two'))]);
    const seen = (built: typeof one): string[] => JSON.parse(String(built.files.get('seen.json')));
    expect(seen(one)).toContain('mark-one');
    expect(seen(two)).toContain('mark-two');
    expect(seen(one)).not.toContain('mark-two');
    expect(seen(two)).not.toContain('mark-one');
    expect(seen(one).filter((name) => name.startsWith('pid')).length).toBeLessThan(12);
  });
});

describeFirst((kind) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openKind(kind);
  }, 300_000);
  afterAll(() => sandbox?.close());

  test('an endless log is cut at its limit and counted', async () => {
    const talker = siteThatRuns(
      `import fs from 'node:fs'; const pause = new Int32Array(new SharedArrayBuffer(4));
       for (;; Atomics.wait(pause, 0, 0, 10)) try { fs.writeSync(1, 'blah blah '.repeat(6000)); } catch {}`,
    );
    // Long enough for a busy machine to start the site's code.
    const limits = { timeoutMs: 12_000, logBytesMax: 50_000 };
    const { outcome, log } = await build(sandbox, talker, { limits });
    expect(outcome).toMatchObject({ code: 'build_timeout' });
    expect(log.length).toBeLessThan(51_000);
    expect(log).toMatch(/\[Log truncated: \d+ more bytes were dropped\.\]\n$/);
  });

  test.for(casesIn(kind, specials))('a build refuses $what in its output by name', async ({ code, says }) => {
    const { outcome, files, log } = await build(sandbox, siteThatWrites(code));
    expect(outcome, log).toMatchObject({ code: 'build_failed', message: expect.stringMatching(says) });
    for (const bytes of files.values()) expect(String(bytes)).not.toContain('root:');
  });

  test.for(casesIn(kind, heaps))('a build with $what exceeds the plan', async ({ code, says }) => {
    const { outcome, log } = await build(sandbox, siteThatWrites(code), { limits: small });
    expect(outcome, log).toMatchObject({ status: 'failed', message: expect.stringMatching(says) });
    if (!JSON.stringify(outcome).includes('EFBIG')) expect(outcome).toMatchObject({ code: 'plan_limit' });
  });
});

test.for(specials)('$what in the output is refused by name', async ({ code, says }) => {
  const { outcome, files } = await outputOf(code);
  expect(outcome).toMatchObject({ code: 'build_failed', message: expect.stringMatching(says) });
  for (const bytes of files.values()) expect(String(bytes)).not.toContain('root:');
});

test.for(heaps)('$what exceeds the plan, and the message names the limit', async ({ code, says }) => {
  const { outcome } = await outputOf(code, small);
  expect(outcome).toMatchObject({ status: 'failed', code: 'plan_limit', message: expect.stringMatching(says) });
});
