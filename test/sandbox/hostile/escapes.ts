/** Programs that forge the verdict, and reach for what is outside. */
import { type HostileProgram, runs, short, tells, writes } from './program.ts';

export const verdicts: HostileProgram[] = [
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

export const outside: HostileProgram[] = [
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
