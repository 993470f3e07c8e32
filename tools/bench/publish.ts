/**
 * The time from the call until the new bytes are served, compared with a bare build of the same commits. Rounds are
 * interleaved; figures are medians. `--quick` measures less often; `--pairs` only measures what can be compared with a
 * bare build.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, medianRatio, percentile } from './measure.ts';
import { type Built, buildBare, checkOut, copyTrees } from './publish-bare.ts';
import { type BenchSite, cpuOf, type Fixture, openFixture } from './publish-fixture.ts';
import { medianPhases, ownPart, type Phases, phasesOf } from './publish-phases.ts';
import { newBlog, newShelf, post, shelf } from './publish-sites.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 2 : 7;
const posts = 17;
const growth = { posts: [17, 497], files: [100, 5_000], publishes: quick ? 1 : 4 };
const restores = quick ? 10 : 60;
const burst = quick ? 4 : 8;

type Published = Built & { sandboxCpu: number; phases: Phases };

/** Publishes, and polls as a visitor until the words are served. */
async function publish(fixture: Fixture, site: BenchSite, path: string, mark: string): Promise<Published> {
  const cpuBefore = await cpuOf(fixture.stack);
  const calledAt = Date.now();
  const from = performance.now();
  const [seen, deployment] = await Promise.all([
    fixture.visible(site, path, mark),
    fixture.call(`/v1/sites/${site.id}/publish`, { scope: 'site' }, { prefer: 'wait=120' }),
  ]);
  const ms = seen - from;
  const { cpu = Number.NaN } = await fixture.msOf(deployment.id);
  const ours = (await cpuOf(fixture.stack)) - cpuBefore;
  return { ms, cpu: ours + cpu / 1000, sandboxCpu: cpu, phases: await phasesOf(fixture, deployment.id, calledAt, ms) };
}

/** Waits until the warm sandboxes are replaced: each build uses one up. */
export function warmth(fixture: Fixture, kept: number) {
  let wanted = kept;
  return {
    used: () => {
      wanted += 1;
    },
    async untilWarm() {
      for (const end = performance.now() + 600_000; (await fixture.warmed()) < wanted; await sleep(50))
        if (performance.now() > end) throw new Error('no sandbox became warm');
      await sleep(300);
    },
    /** Waits after builds that used several sandboxes. */
    async settle() {
      await sleep(1_000);
      for (let seen = -1; seen !== (await fixture.warmed()); await sleep(8_000)) seen = await fixture.warmed();
      wanted = await fixture.warmed();
    },
  };
}

type Warmth = ReturnType<typeof warmth>;

async function warmPublish(fixture: Fixture, warm: Warmth, site: BenchSite, path: string, mark: string) {
  await warm.untilWarm();
  warm.used();
  return await publish(fixture, site, path, mark);
}

/** A publish with one changed post, compared with both bare builds; and a site's first publish. */
async function benchPairs(fixture: Fixture, warm: Warmth) {
  const site = await newBlog(fixture, posts);
  await warmPublish(fixture, warm, site, '/posts/post-1/', 'tide');
  const folder = join(fixture.dir, 'bare');
  await checkOut(fixture.kept, site, folder);
  await buildBare(folder, 'none');
  const taken = { none: [] as Built[], kept: [] as Built[], changed: [] as Published[], first: [] as Published[] };
  for (let round = 0; round < rounds; round++) {
    const mark = `changed-in-round-${round}`;
    await fixture.push(site.content, { 'posts/post-1.md': post(1, mark) });
    const fresh = await newBlog(fixture, posts);
    await copyTrees(site, folder);
    await warm.untilWarm();
    taken.none.push(await buildBare(folder, 'none'));
    await fixture.push(site.content, { 'posts/post-2.md': post(2, mark) });
    await copyTrees(site, folder);
    taken.kept.push(await buildBare(folder, 'kept'));
    taken.changed.push(await warmPublish(fixture, warm, site, '/posts/post-1/', mark));
    taken.first.push(await warmPublish(fixture, warm, fresh, '/posts/post-1/', 'tide'));
    console.log(
      `… round ${round + 1} of ${rounds}: ${Object.values(taken).map((all) => Math.round(all.at(-1)?.ms ?? 0))} ms`,
    );
  }
  return { site, taken };
}

/** The platform's share as the published site grows. */
async function benchGrowth(
  fixture: Fixture,
  warm: Warmth,
  make: (size: number) => Promise<BenchSite>,
  file: (site: BenchSite, mark: string, size: number) => Promise<string>,
  sizes: number[],
) {
  const rows: { size: number; all: Published[] }[] = [];
  for (const size of sizes) {
    const site = await make(size);
    await warmPublish(fixture, warm, site, await file(site, 'at-first', size), 'at-first');
    const all: Published[] = [];
    for (let n = 0; n < growth.publishes; n++) {
      const path = await file(site, `change-${n}`, size);
      all.push(await warmPublish(fixture, warm, site, path, `change-${n}`));
    }
    rows.push({ size, all });
  }
  return rows;
}

/** The time from the call until the other version is served. */
async function benchRestore(fixture: Fixture, site: BenchSite): Promise<number[]> {
  const { items } = await fixture.call(`/v1/sites/${site.id}/deployments?limit=2`);
  const [newer, older] = items;
  const mark = (n: number) => `changed-in-round-${rounds - 1 - n}`;
  const taken: number[] = [];
  for (let n = 0; n < restores; n++) {
    const back = n % 2 === 0;
    const from = performance.now();
    const [seen] = await Promise.all([
      fixture.visible(site, '/posts/post-1/', mark(back ? 1 : 0)),
      fixture.call(`/v1/deployments/${(back ? older : newer)?.id}/restore`, {}),
    ]);
    taken.push(seen - from);
  }
  return taken.sort((a, b) => a - b);
}

/** Many concurrent publishes, each of another site. */
async function benchBurst(fixture: Fixture) {
  const sites: BenchSite[] = [];
  for (let n = 0; n < burst; n++) sites.push(await newBlog(fixture, 1));
  const from = performance.now();
  const ended = await Promise.all(
    sites.map(async (site) => {
      const { status } = await fixture.call(`/v1/sites/${site.id}/publish`, { scope: 'site' }, { prefer: 'wait=0' });
      if (status !== 'queued' && status !== 'building' && status !== 'storing' && status !== 'live')
        throw new Error(status);
      return (await fixture.visible(site, '/posts/post-0/', 'tide')) - from;
    }),
  );
  return ended.sort((a, b) => a - b);
}

/** Measures everything and returns the section of the results. */
export async function benchPublish(): Promise<string> {
  const fixture = await openFixture();
  try {
    await fixture.newOwner();
    const warm = warmth(fixture, 2);
    const { site, taken } = await benchPairs(fixture, warm);
    if (process.argv.includes('--pairs')) return reportPairs(taken);
    const restored = await benchRestore(fixture, site);
    await fixture.newOwner();
    const byPosts = await benchGrowth(
      fixture,
      warm,
      (size) => newBlog(fixture, size),
      async (one, mark) => {
        await fixture.push(one.content, { 'posts/post-1.md': post(1, mark) });
        return '/posts/post-1/';
      },
      growth.posts,
    );
    const byFiles = await benchGrowth(
      fixture,
      warm,
      (size) => newShelf(fixture, size),
      async (one, mark, size) => {
        await fixture.push(one.source, { 'src/pages/files/[n].txt.ts': shelf(size, mark) });
        return '/files/0.txt';
      },
      growth.files,
    );
    await fixture.newOwner();
    await warm.untilWarm();
    const queued = await benchBurst(fixture);
    return `${reportPairs(taken)}\n\n${reportRest(restored, byPosts, byFiles, queued)}`;
  } finally {
    await fixture.stop();
  }
}

type Taken = Awaited<ReturnType<typeof benchPairs>>['taken'];
type Growth = Awaited<ReturnType<typeof benchGrowth>>;

const ms = (value: number | undefined) => `${Math.round(value ?? Number.NaN)} ms`;
const times = (all: Built[]) => all.map((one) => one.ms);
const ratio = (ours: Built[], theirs: Built[]) => medianRatio(times(ours), times(theirs)).toFixed(2);
const table = (head: string[], rows: (string | number)[][]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

function reportPairs(taken: Taken): string {
  const row = (name: string, all: Built[], versus: string[]) => [
    name,
    ms(median(times(all))),
    `${median(all.map((one) => one.cpu)).toFixed(2)} s`,
    ...versus,
  ];
  const phases = medianPhases(taken.changed.map((one) => one.phases));
  const firstPhases = medianPhases(taken.first.map((one) => one.phases));
  return [
    `A blog of 20 posts with 3 pictures in 12 sizes; ${rounds} interleaved rounds, medians, ratios of each round's pair.`,
    table(
      ['', 'wall', 'CPU', '× bare, no caches', '× bare, warm caches'],
      [
        row('bare `astro build`, no caches', taken.none, ['1', '']),
        row('bare `astro build`, warm caches', taken.kept, ['', '1']),
        row('publish, one post changed', taken.changed, [
          ratio(taken.changed, taken.none),
          ratio(taken.changed, taken.kept),
        ]),
        row('first publish of a site', taken.first, [ratio(taken.first, taken.none), '']),
      ],
    ),
    'A publish is measured from the call until the first visitor receives the new version. Its CPU includes all our processes, PostgreSQL, Temporal, and the sandbox from the start of the build; the warm-up of a sandbox is not included.',
    'The phases of a publish:',
    table(
      ['phase, median', 'one post changed', 'first publish'],
      Object.entries(phases).map(([name, value]) => [name, ms(value), ms(firstPhases[name])]),
    ),
  ].join('\n\n');
}

function reportRest(restored: number[], byPosts: Growth, byFiles: Growth, queued: number[]): string {
  const grown = (rows: Growth, what: string) =>
    table(
      [what, 'own share', 'build', 'both'],
      rows.map(({ size, all }) => [
        size,
        ms(median(all.map((one) => ownPart(one.phases, one.ms)))),
        ms(median(all.map((one) => one.phases['the build itself'] ?? Number.NaN))),
        ms(median(times(all))),
      ]),
    );
  return [
    `Restore, from the call until the other version is served (${restored.length} restores): median ${ms(median(restored))}, p95 ${ms(percentile(restored, 0.95))}.`,
    'The platform’s own share as the site grows, with one changed file:',
    grown(byPosts, 'posts in addition to the template’s three'),
    grown(byFiles, 'files'),
    `${queued.length} concurrent publishes, two of them with a warm sandbox: all live, the first after ${ms(queued[0])}, the last after ${ms(queued.at(-1))}.`,
  ].join('\n\n');
}
