/**
 * Publishes per minute with one builds worker and with two, each building one site at a time. For comparison, bare
 * builds, one at a time and two at once, show what the machine's cores allow. Rounds are interleaved; figures are
 * medians. `--quick` measures few.
 */
import { join } from 'node:path';
import { callApi } from '#tools/local/client.ts';
import { openAccount } from '#tools/local/owner.ts';
import { startNodeProcess } from '#tools/local/services/node-process.ts';
import { median, medianRatio } from './measure.ts';
import { buildBare, checkOut } from './publish-bare.ts';
import { type BenchSite, type Fixture, openFixture } from './publish-fixture.ts';
import { newBlog } from './publish-sites.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 1 : 3;
/** Publishes of each kind per round. An account may publish 60 times an hour. */
const publishes = quick ? 4 : 16;
/** Enough that no worker waits for work while each site has one build at a time. */
const sitesCount = 4;

type Owned = { site: BenchSite; token: string };

async function openSites(fixture: Fixture): Promise<Owned[]> {
  const sites: Owned[] = [];
  for (let n = 0; n < sitesCount; n++) {
    const { access_token: token } = await openAccount(fixture.stack.env, `workers-${n}@example.com`, 'Bench');
    const call: Fixture['call'] = async (path, body) =>
      (await callApi(fixture.stack.baseUrl, path, { token, body })).body;
    sites.push({ site: await newBlog({ ...fixture, call }, 17), token });
  }
  return sites;
}

async function publish(fixture: Fixture, { site, token }: Owned): Promise<void> {
  // Without the cache, so each is a whole build of the same commits.
  const headers = { prefer: 'wait=120', 'cache-control': 'no-cache' };
  const { body } = await callApi(fixture.stack.baseUrl, `/v1/sites/${site.id}/publish`, { token, body: {}, headers });
  if (body.status !== 'live') throw new Error(`a publish did not go live: ${JSON.stringify(body)}`);
}

/** Runs `act` with this many builds workers. */
async function withBuilders<T>(fixture: Fixture, count: number, act: () => Promise<T>): Promise<T> {
  const builders = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      startNodeProcess({
        name: `builds-${n}`,
        entry: 'worker/worker.ts',
        env: {
          ...fixture.stack.env,
          FRONTAGE_QUEUES: 'builds',
          FRONTAGE_BUILD_SLOTS: '1',
          FRONTAGE_WARM_SANDBOXES: '0',
        },
        logFile: join(fixture.dir, `builds-${n}.log`),
      }),
    ),
  );
  try {
    return await act();
  } finally {
    await Promise.all(builders.map((builder) => builder.stop()));
  }
}

const perMinute = (count: number, from: number) => (count / (performance.now() - from)) * 60_000;

async function publishesPerMinute(fixture: Fixture, sites: Owned[], builders: number): Promise<number> {
  return await withBuilders(fixture, builders, async () => {
    await Promise.all(sites.map((site) => publish(fixture, site)));
    const from = performance.now();
    const each = async (site: Owned) => {
      for (let n = 0; n < publishes / sitesCount; n++) await publish(fixture, site);
    };
    await Promise.all(sites.map(each));
    return perMinute(publishes, from);
  });
}

async function bareBuildsPerMinute(folders: string[]): Promise<number> {
  const from = performance.now();
  const each = async (folder: string) => {
    for (let n = 0; n < publishes / 2 / folders.length; n++) await buildBare(folder, 'kept');
  };
  await Promise.all(folders.map(each));
  return perMinute(publishes / 2, from);
}

/** Returns the section of the results. */
export async function benchWorkers(): Promise<string> {
  const fixture = await openFixture({ FRONTAGE_QUEUES: 'platform' });
  try {
    const sites = await openSites(fixture);
    const folders = [join(fixture.dir, 'bare-0'), join(fixture.dir, 'bare-1')];
    for (const folder of folders) await checkOut(fixture.kept, (sites[0] as Owned).site, folder);
    for (const folder of folders) await buildBare(folder, 'none');
    const taken = { one: [] as number[], two: [] as number[], bareOne: [] as number[], bareTwo: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      taken.one.push(await publishesPerMinute(fixture, sites, 1));
      taken.bareOne.push(await bareBuildsPerMinute(folders.slice(1)));
      taken.two.push(await publishesPerMinute(fixture, sites, 2));
      taken.bareTwo.push(await bareBuildsPerMinute(folders));
      const line = Object.entries(taken).map(([what, all]) => `${what} ${all.at(-1)?.toFixed(1)}`);
      console.log(`… round ${round + 1} of ${rounds}, per minute: ${line.join(', ')}`);
    }
    const row = (what: string, one: number[], two: number[]) => {
      const times = medianRatio(two, one).toFixed(2);
      return `| ${what} | ${median(one).toFixed(1)} | ${median(two).toFixed(1)} | ${times} |`;
    };
    return [
      `A blog of 20 posts; ${rounds} interleaved rounds of ${publishes} publishes, of ${sitesCount} sites at once; medians.`,
      [
        '| per minute | one at a time | two at once | × |',
        '| --- | --- | --- | --- |',
        row('publishes, by number of builds workers', taken.one, taken.two),
        row('bare `astro build`, warm caches', taken.bareOne, taken.bareTwo),
      ].join('\n'),
    ].join('\n\n');
  } finally {
    await fixture.stop();
  }
}
