/** Publishes and restores under visitors, over several edges of several processes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { goLive, takeTicket } from '#db/deployments/transitions.ts';
import { openOrm } from '#db/orm.ts';
import { systemClock } from '#runtime/clock.ts';
import { sized } from '#test/campaigns/size.ts';
import { ask, createFixture, type Files, type Fixture, until } from './fixture.ts';
import { faultOf, sha256, startProbing } from './prober.ts';
import { startEdgeProcess } from './spawn.ts';

const moves = sized({ one: 10, short: 10, long: 100 });
const versionCount = 7;
const perSecond = 200;
const host = 'atom.sites.test';

let fixture: Fixture;
let orm: Awaited<ReturnType<typeof openOrm>>;
let edges: Awaited<ReturnType<typeof startEdgeProcess>>[] = [];

beforeAll(async () => {
  fixture = await createFixture();
  orm = await openOrm(fixture.database.url);
  edges = await Promise.all([startEdgeProcess(fixture, 2), startEdgeProcess(fixture, 2)]);
});
afterAll(async () => {
  for (const { child } of edges) child.kill('SIGTERM');
  await Promise.all(edges.map(({ exit }) => exit));
  await orm?.close();
  await fixture?.close();
});

/** Pages that say their version all over, a style that never changes, and an asset under a name of its own. */
function filesOf(version: number): Files {
  const words = (what: string) => `<p>${what}, version ${version}.</p>\n`.repeat(60);
  const asset = `_astro/app.V${String(version).padStart(7, '0')}.js`;
  return {
    'index.html': `<script src="/${asset}"></script>${words('Front')}`,
    'about.html': words('About'),
    'blog/index.html': words('Blog'),
    'same.css': 'body { color: black }\n'.repeat(40),
    '404.html': words('Nothing'),
    [asset]: `// version ${version}\n`.repeat(40),
  };
}

test(`in ${moves} publishes and restores every response is complete and from a live version`, async () => {
  const versions = Array.from({ length: versionCount }, (_, version) => filesOf(version));
  const files = new Map(
    versions.flatMap((one) => Object.values(one).map((text) => [sha256(Buffer.from(text)), Buffer.from(text)])),
  );
  const versionOf = new Map(
    versions.flatMap((one, version) => Object.values(one).map((text) => [sha256(Buffer.from(text)), version])),
  );
  const siteId = await fixture.addSite('atom');
  const em = () => orm.em.fork();
  const lives: { version: number; from: number; to: number }[] = [];
  const deployments: string[] = [];

  /** The first seven moves publish, and of the later ones each brings an earlier version back. */
  async function move(n: number): Promise<void> {
    const version = n < versionCount ? n : (n * 3) % versionCount;
    const ticket = await takeTicket(em(), siteId);
    deployments[version] ??= await waiting(versions[version] as Files, ticket);
    const from = performance.now();
    await goLive(em(), systemClock, deployments[version] as string, {
      restoreTicket: n < versionCount ? undefined : ticket,
    });
    const last = lives.at(-1);
    if (last) last.to = performance.now();
    lives.push({ version, from, to: Number.POSITIVE_INFINITY });
  }

  async function waiting(version: Files, ticket: number): Promise<string> {
    const id = await fixture.addDeployment(siteId, await fixture.keep(version));
    await fixture.db.query(`update deployment set status = 'storing', ticket = $2, live_at = null where id = $1`, [
      id,
      ticket,
    ]);
    return id;
  }

  await move(0);
  const ports = edges.map(({ port }) => port);
  for (const port of ports) await until(async () => (await ask(port, '/', { host })).status === 200);
  const paths = ['/', '/about', '/blog/', '/same.css', '/index.html', '/blog/index.html'];
  const prober = startProbing({ ports, host, paths, perSecond });
  for (let n = 1; n <= moves; n++) {
    await move(n);
    const seen = prober.probes.length + perSecond / 5;
    await until(async () => prober.probes.length >= seen, 30_000);
  }
  await prober.stop();

  const faults = prober.probes.flatMap((probe) => {
    const fault = faultOf(probe, files);
    return fault ? [`${probe.path}: ${fault}`] : [];
  });
  expect(faults).toEqual([]);
  const count = (status: number) => prober.probes.filter((probe) => probe.status === status).length;
  for (const status of [200, 206, 304]) expect(count(status)).toBeGreaterThan(moves);
  expect(count(200) + count(206) + count(304) + count(412)).toBe(prober.probes.length);

  const latest = Math.max(...prober.probes.map((probe) => lateness(probe.tagged, probe.path, probe.began)));
  // What was said is to be seen within a second; a machine that does other things too may need longer.
  expect(latest).toBeLessThan(5_000);
  const took = (prober.probes.at(-1)?.ended as number) - (prober.probes[0]?.began as number);
  console.log(
    `${moves} moves, ${prober.probes.length} requests at ${Math.round((prober.probes.length * 1000) / took)} a second over 4 edge processes:`,
    `0 faults; the latest answer of an earlier version began ${Math.round(latest)} ms after the move`,
  );

  /** For how long the page that was answered had not been live when it was asked for, in milliseconds. */
  function lateness(tagged: string | undefined, path: string, began: number): number {
    if (path.includes('.') && !path.endsWith('.html')) return 0;
    const shown = versionOf.get(tagged ?? '');
    if (shown === undefined) return 0;
    return Math.min(...lives.filter((life) => life.version === shown).map((life) => Math.max(0, began - life.to)));
  }
}, 180_000);
