/** Programs that look for a way out of each kind of sandbox. One build runs many of them, and tells what each achieved. */
import { execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestOptions, test } from 'vitest';
import { makeImageFolder } from '#providers/sandbox/image/image.ts';
import { openNamespacesSandbox } from '#providers/sandbox/namespaces.ts';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { build, dataDir, newOwner, openKind, siteThatWrites } from './fixture.ts';
import { nativeCalls } from './hostile/native.ts';
import { describeKinds, type Kind, kinds, systemHas } from './kinds.ts';

const isNative = process.platform === 'linux' && process.arch === 'x64';
const refused = { EPERM: -1, ENOSYS: -38, EAFNOSUPPORT: -97 };

/** What each call answers where our filter is loaded. A container engine has a filter of its own; its answers differ. */
const calls: [what: string, call: string, answer: keyof typeof refused][] = [
  ['mounts a file system', `165, 'none', '/tmp', 'tmpfs', 0, 0`, 'EPERM'],
  ['makes the root writable', `165, 'none', '/', 'none', ${0x20 | 0x1000}, 0`, 'EPERM'],
  ['uncovers what is below a mount', `166, '/proc', 2`, 'EPERM'],
  ['takes a copy of a tree', `428, -100, '/', 1`, 'EPERM'],
  ['exchanges the root', `155, '.', '.'`, 'EPERM'],
  ['changes its root', `161, '/tmp'`, 'EPERM'],
  ['makes a namespace of mounts', `272, ${0x2_0000}`, 'EPERM'],
  ['forks into a user namespace', `56, ${0x1000_0000 | 17}, 0, 0, 0, 0`, 'EPERM'],
  ['hides a namespace’s flags in memory', `435, 'flags', 88`, 'ENOSYS'],
  ['enters a namespace', `308, 0, 0`, 'EPERM'],
  ['opens a file by its handle', `304, -100, 'handle', 0`, 'EPERM'],
  ['reads the registers of process 1', `101, 12, 1, 0, 0`, 'EPERM'],
  ['reads the memory of process 1', `310, 1, 'a', 1, 'b', 1, 0`, 'EPERM'],
  ['takes a descriptor of process 1', `438, 0, 0, 0`, 'EPERM'],
  ['reads a key of the worker', `250, 11, -3, 0, 0`, 'EPERM'],
  ['adds a key', `248, 'user', 'name', 'value', 5, -3`, 'EPERM'],
  ['loads a program into the kernel', `321, 5, 'program', 120`, 'EPERM'],
  ['counts events of the machine', `298, 'attributes', 0, -1, -1, 0`, 'EPERM'],
  ['handles its page faults itself', `323, 1`, 'EPERM'],
  ['makes a ring of requests', `425, 1, 'p'.padEnd(120)`, 'EPERM'],
  ['loads another kernel', `246, 0, 0, 'x', 0`, 'EPERM'],
  ['types into a terminal', `16, 0, ${0x5412}, 'x'`, 'EPERM'],
  ['types with a number of 64 bits', `16, 0, ${0x1_0000_5412}, 'x'`, 'EPERM'],
  ['opens a socket of the hypervisor', `41, 40, 1, 0`, 'EAFNOSUPPORT'],
  ['opens a socket of the kernel’s ciphers', `41, 38, 5, 0`, 'EAFNOSUPPORT'],
  ['opens a packet socket', `41, 17, 3, 0`, 'EAFNOSUPPORT'],
  ['opens a netlink socket of the firewall', `41, 16, 3, 12`, 'EAFNOSUPPORT'],
  ['calls what a later kernel has', `600`, 'ENOSYS'],
];
/** Engines permit these: the first two where the kernel makes them safe, the sockets in all versions or in those of 2021. */
const permittedByEngines = [
  'reads the registers of process 1',
  'reads the memory of process 1',
  'opens a socket of the hypervisor',
  'opens a socket of the kernel’s ciphers',
  'opens a netlink socket of the firewall',
];

/** Machine code in a child process too: the call that is refused with a signal ends its caller. */
const native = (made: typeof calls) => `
  ${nativeCalls}
  told.pid = [call(39), process.pid];
  told.unix = call(41, 1, 1, 0);
  told.answers = [${made.map(([, call]) => `call(${call})`).join(', ')}];
  const { spawnSync } = await import('node:child_process');
  const caller = ${JSON.stringify(`const fs = require('fs'); ${nativeCalls} call(0x40000000 + 39);`)};
  told.x32 = spawnSync(process.execPath, ['-e', caller]).signal;`;

const ways = `
  const attempt = (act) => { try { return act(); } catch (e) { return e.code ?? String(e); } };
  const list = (path) => attempt(() => fs.readdirSync(path));
  const write = (path) => attempt(() => { fs.writeFileSync(path, '1'); return 'WRITTEN'; });
  const open = (process) => list(process + '/fd').map((fd) => attempt(() => fs.readlinkSync(process + '/fd/' + fd)));
  const privileged = [];
  for (const folder of ['/usr', '/lib', '/etc', '/dev', '/tmp', '/opt/frontage/site'])
    for (const name of fs.readdirSync(folder, { recursive: true }))
      attempt(() => fs.lstatSync(folder + '/' + name).mode & 0o6000 && privileged.push(folder + '/' + name));
  Object.assign(told, {
    root: list('/'), roots: [list('/proc/1/root'), list('/proc/1/cwd/../../..'), list('/proc/self/root/..')],
    mounts: fs.readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\\n').map((line) => line.split(' ').slice(4, 6)),
    hostname: os.hostname(), privileged, open: [...open('/proc/self'), ...open('/proc/1')],
    signals: [${process.pid}, -${process.pid}].map((pid) => attempt(() => process.kill(pid, 0))),
    processes: /Max processes\\s+(\\d+)/.exec(fs.readFileSync('/proc/self/limits', 'utf8'))[1],
    shared: write('/dev/shm/fill'), devices: list('/dev'),
    switches: ['/proc/sys/user/max_user_namespaces', '/proc/sys/kernel/core_pattern', '/proc/self/uid_map', '/proc/1/uid_map',
      '/proc/sysrq-trigger', '/dev/x', '/seccomp.bpf', '/usr/bin/node'].map(write),
    namespaces: list('/proc/1/ns').map((name) => attempt(() => fs.readlinkSync('/proc/1/ns/' + name))),
  });`;

/** Runs the programs in one build. */
async function tell(sandbox: Sandbox, ...programs: string[]) {
  const code = `const told = {}; ${programs.join('\n')}; fs.writeFileSync(dist + 'told.json', JSON.stringify(told));`;
  const { outcome, files, log } = await build(sandbox, siteThatWrites(code));
  expect(outcome, log).toEqual({ status: 'built' });
  return JSON.parse(String(files.get('told.json')));
}

type Told = Awaited<ReturnType<typeof tell>>;

/** No path, descriptor, signal or switch led out. */
function expectHeld(kind: Kind, told: Told): void {
  for (const root of told.roots) expect(root === 'EACCES' || root).toEqual(told.root);
  expect(told.root.sort()).toEqual(expect.arrayContaining(['dev', 'etc', 'lib', 'opt', 'proc', 'tmp', 'usr']));
  expect(told.root).not.toEqual(expect.arrayContaining(['home']));
  for (const [path, flags] of told.mounts) {
    if (/^\/(tmp|opt\/frontage\/site)$/.test(path)) expect(flags).toMatch(/nosuid,nodev/);
    else if (!/^\/(proc|dev|sys)/.test(path)) expect([path, flags]).toEqual([path, expect.stringMatching(/^ro\b/)]);
  }
  if (kind !== 'namespaces' || systemHas('hostname')) expect(told.hostname).not.toBe(hostname());
  expect(told.privileged).toEqual([]);
  for (const target of told.open) expect(target).toMatch(/^(socket|pipe|anon_inode):|^\/dev\/null$|^\/site|^ENOENT$/);
  expect(told.signals).toEqual(['ESRCH', 'ESRCH']);
  expect(told.shared).not.toBe('WRITTEN');
  // The limit of the user namespace, where control groups have one too.
  if (kind === 'namespaces') expect(told.processes).toBe('256');
  expect(told.devices).not.toContain('mem');
  expect(told.switches).not.toContain('WRITTEN');
  const own = spawnSync('sh', ['-c', 'for n in ipc mnt net pid uts; do readlink /proc/self/ns/$n; done'], {
    encoding: 'utf8',
  });
  for (const name of own.stdout.trim().split('\n')) expect(told.namespaces).not.toContain(name);
}

describeKinds((kind) => {
  let told: Told;
  beforeAll(async () => {
    const sandbox = await openKind(kind);
    told = await tell(sandbox, ways, isNative ? native(calls) : '');
    await sandbox.close();
  }, 300_000);

  test('no path, descriptor, signal or switch leads out', async () => {
    expectHeld(kind, told);
  });

  // Not `runIf`, which also runs what a tag skips.
  const filtered: TestOptions = {
    tags: kind === 'namespaces' ? [kind, 'system-call-filter'] : [kind],
    ...(isNative ? {} : { skip: true }),
  };
  test('the kernel refuses calls that builds do not need', filtered, () => {
    expect(told.pid[0]).toBe(told.pid[1]);
    expect(told.unix).toBeGreaterThan(2);
    for (const [at, [what, , answer]] of calls.entries()) {
      if (kind !== 'docker') expect({ [what]: told.answers[at] }).toEqual({ [what]: refused[answer] });
      else if (!permittedByEngines.includes(what)) expect({ [what]: told.answers[at] < 0 }).toEqual({ [what]: true });
    }
    if (kind !== 'docker') expect(told.x32).toBe('SIGSYS');
  });
}, kinds);

describe.skipIf(process.getuid?.() !== 0)('in a folder that only root may enter', () => {
  let folder: string;
  beforeAll(async () => {
    const { path } = await makeImageFolder(dataDir, () => {});
    folder = mkdtempSync(join(dataDir, '.closed-'));
    mkdirSync(join(folder, 'sandbox'));
    execFileSync('cp', ['-al', path, join(folder, 'sandbox')]);
    symlinkSync(folder, `${folder}.link`);
  }, 300_000);
  afterAll(() => {
    for (const made of [folder, `${folder}.link`]) rmSync(made, { recursive: true, force: true });
  });

  describeKinds(
    (kind) =>
      test('the image is used, and nothing leads out or stays mounted', { timeout: 120_000 }, async () => {
        const sandbox = await openKind(kind, newOwner(), undefined, `${folder}.link`);
        onTestFinished(() => sandbox.close());
        expectHeld(kind, await tell(sandbox, ways));
        expect(statSync(folder).mode & 0o777).toBe(0o700);
        expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(folder);
      }),
    ['bubblewrap', 'namespaces'],
  );
});

describe('in a worker that inherited a descriptor', { tags: 'namespaces' }, () => {
  test('a build does not have it', async () => {
    const fixture = JSON.stringify(join(import.meta.dirname, 'fixture.ts'));
    const worker = `const { build, openKind, siteThatWrites } = await import(${fixture});
      const sandbox = await openKind('namespaces');
      const code = "fs.writeFileSync(dist + 'told.json', JSON.stringify(['self', 1].flatMap((pid) => fs.readdirSync('/proc/' + pid + '/fd')" +
        ".map((fd) => { try { return fs.readlinkSync('/proc/' + pid + '/fd/' + fd); } catch { return ''; } }))))";
      const { files, log } = await build(sandbox, siteThatWrites(code));
      await sandbox.close();
      const own = (await import('node:fs')).readlinkSync('/proc/self/fd/40');
      console.log(JSON.stringify({ own, open: JSON.parse(String(files.get('told.json') ?? JSON.stringify([log]))) }));`;
    const secret = openSync(import.meta.filename, 'r');
    onTestFinished(() => closeSync(secret));
    const stdio = ['ignore', 'pipe', 'inherit', ...Array(37).fill('ignore'), secret] as StdioOptions;
    const child = spawn(process.execPath, ['--input-type=module', '-e', worker], { stdio });
    const told = JSON.parse(await text(child.stdout as Readable));
    expect(told.own).toBe(import.meta.filename);
    expect(told.open.filter((target: string) => target.startsWith('/') && target !== '/dev/null')).toEqual([]);
    expect(told.open.length).toBeGreaterThan(6);
  });
});

describe('without a filter', { tags: 'namespaces' }, () => {
  test.runIf(isNative)('namespaces alone hold the calls that would lead out', async () => {
    const warnings: string[] = [];
    const options = {
      dataDir,
      owner: newOwner(),
      onProgress: () => {},
      warn: (text: string) => void warnings.push(text),
    };
    const sandbox = await openNamespacesSandbox(options, [['false']]);
    const outward = calls.slice(
      0,
      calls.findIndex(([what]) => what.startsWith('reads the registers')),
    );
    const { answers } = await tell(sandbox, native(outward));
    await sandbox.close();
    expect(warnings.join()).toContain('filter cannot be loaded');
    for (const [at, [what]] of outward.entries()) expect({ [what]: answers[at] < 0 }).toEqual({ [what]: true });
  });
});
