/** Programs with malformed output and logs. */
import { type HostileProgram, runs, writes } from './program.ts';

export const output: HostileProgram[] = [
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
    says: /more files than the limit/,
    brief: true,
  },
  {
    what: 'leaves a huge file of nothing',
    files: writes(`fs.writeFileSync(dist + 'hole', ''); fs.truncateSync(dist + 'hole', 2e12);`),
    ends: ['plan_limit', 'build_failed'],
    says: /size limit for a file|EFBIG/,
  },
  {
    what: 'leaves many files that are each allowed',
    files: writes(`for (let i = 0; i < 20; i++) { fs.writeFileSync(dist + i, ''); fs.truncateSync(dist + i, 9e6); }`),
    ends: ['plan_limit'],
    says: /site exceeds the size limit/,
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

/** What the framework keeps for the next build of the site lies where site code can reach it. */
export const caches: HostileProgram[] = [
  {
    what: 'leaves links and shut folders in its caches',
    files:
      writes(`fs.mkdirSync('/tmp/cache/astro/shut', { recursive: true }); fs.symlinkSync('/etc/passwd', '/tmp/cache/astro/leak');
      fs.chmodSync('/tmp/cache/astro/shut', 0);`),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'makes its caches a link to the processes',
    files: writes(`fs.rmSync('/tmp/cache', { recursive: true, force: true }); fs.symlinkSync('/proc', '/tmp/cache');`),
    ends: ['built'],
    brief: true,
  },
  {
    what: 'makes the kept part of its caches a link to the image',
    files: writes(
      `fs.rmSync('/tmp/cache/astro', { recursive: true, force: true }); fs.symlinkSync('/opt/frontage', '/tmp/cache/astro');`,
    ),
    ends: ['built'],
  },
  {
    what: 'fills its caches',
    files: writes(
      `fs.mkdirSync('/tmp/cache/astro', { recursive: true }); for (let i = 0; i < 160; i++) fs.writeFileSync('/tmp/cache/astro/' + i, Buffer.alloc(1e6));`,
    ),
    ends: ['built'],
  },
  {
    what: 'leaves names in its caches that are none',
    files:
      writes(`fs.mkdirSync('/tmp/cache/astro', { recursive: true }); fs.writeFileSync(Buffer.concat([Buffer.from('/tmp/cache/astro/a'), Buffer.from([0xff])]), 'x');
      fs.writeFileSync('/tmp/cache/astro/a\\nb', 'x');`),
    ends: ['built'],
  },
];

export const log: HostileProgram[] = [
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
