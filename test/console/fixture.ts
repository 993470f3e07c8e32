/** Owners in Chromium, with sites that have versions, comments and visits. */

import { appendLog } from '#db/deployments/build-log.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { storeDraft } from '#db/previews/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { renderManifest } from '#providers/manifest.ts';
import { newId } from '#runtime/ids.ts';
import { createSite, type Fixture } from '#test/api/fixture.ts';
import { png } from '#test/git/samples.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { draw } from '#test/renderings/drawn.ts';
import { type Look, openBrowsing } from '#test/web/browsing.ts';

/** What would run if a page did not escape it. */
export const hostile = `"><img src=x onerror=document.title='pwned'>'</textarea></title><script>document.title='pwned'</script>`;

type Place = Pick<Fixture, 'deps' | 'clock'>;

/** Adds a version as its workflow leaves it. */
export async function addVersion(
  { deps, clock }: Place,
  siteId: string,
  status: 'live' | 'retired' | 'failed' | 'building',
  text = 'a log',
): Promise<string> {
  const em = deps.em();
  const site = await em.findOneOrFail(Site, { id: siteId });
  site.lastNumber += 1;
  const [number, id] = [site.lastNumber, newId('dep')];
  const bytes = await deps.store.put(Buffer.from(`version ${number}`));
  const files = [{ path: 'index.html', sha256: bytes.sha256, bytes: bytes.bytes, encodings: [] }];
  const manifestSha256 =
    status === 'failed' || status === 'building' ? null : (await deps.store.put(renderManifest(files))).sha256;
  site.lastTicket += 1;
  const [now, error] = [clock.now(), { code: 'build_failed' as const, message: text, retryable: false }];
  const times = { createdAt: now, startedAt: now, ...(status === 'building' ? {} : { finishedAt: now }) };
  em.create(Deployment, {
    ...{ id, site, number, kind: 'site', status, ticket: site.lastTicket, siteUrl: 'http://x.localhost' },
    ...{ manifestSha256, createdBy: site.account, fileCount: 1, totalBytes: 9n as never, ...times },
    ...(manifestSha256 ? { liveAt: now } : {}),
    ...(status === 'failed' ? { error } : {}),
  });
  await em.flush();
  if (status === 'live') await em.nativeUpdate(Site, { id: siteId }, { liveDeploymentId: id });
  await appendLog(em, id, 0, `[build] version ${number}\n${text}\n`);
  return id;
}

/** Adds four weeks of visits to a page of this name, from there. */
export async function addViews({ deps, clock }: Place, siteId: string, text: string): Promise<void> {
  const hour = 3_600_000;
  for (let day = 0; day < 28; day += 1) {
    const at = new Date(Math.floor((clock.now().getTime() - day * 24 * hour) / hour) * hour);
    const views = 12 + ((day * 7) % 23);
    await deps.em().execute(
      `insert into view_hour (site_id, hour, writer, views, sketch, pages, referrers, countries, devices)
       values (?, ?, 'test', ?, ?, ?, ?, ?, ?)`,
      [
        siteId,
        at,
        views,
        Buffer.alloc(0),
        ...[{ '/': views, [`/${text}`]: 3 }, { [text]: 2 }, { DE: views }, { mobile: views }].map((one) =>
          JSON.stringify(one),
        ),
      ],
    );
  }
}

export async function createConsoleFixture() {
  const browsing = await openBrowsing();
  const people = await createPeopleFixture({ FRONTAGE_EDGE_URL: browsing.edgeUrl, FRONTAGE_SCREENSHOTS: 'on' });
  const { deps, clock } = people;
  // Cookies over plain HTTP stay on localhost.
  const here = Object.assign(new URL(people.url), { hostname: 'localhost' }).origin;
  type SignedIn = Awaited<ReturnType<typeof people.newSignedIn>>;

  /** A draft of the owner in slot 1, with work that is not on the site. */
  async function addDraft({ call }: Pick<SignedIn, 'call'>, siteId: string): Promise<void> {
    const { repositories } = deps;
    if (!repositories) throw new Error('there are repositories');
    const [repository, branch] = ['source', 'preview/1'] as const;
    const parent = (await repositories.head(siteId, repository)) ?? null;
    await repositories.move(siteId, [{ repository, branch, from: null, to: parent }]);
    const changes = [{ path: 'new.html', bytes: Buffer.from('New') }];
    const author = { name: 'Ada', email: 'ada@example.com' };
    const commit = await repositories.commit(siteId, repository, {
      branch,
      parent,
      message: 'Add',
      author,
      at: clock.now(),
      changes,
    });
    const { body } = await call('POST', `/v1/sites/${siteId}/previews/1`, { headers: { prefer: 'respond-async' } });
    const page = await deps.store.put(Buffer.from('A draft'));
    const manifest = await deps.store.put(
      renderManifest([{ path: 'index.html', sha256: page.sha256, bytes: page.bytes }]),
    );
    const output = { manifestSha256: manifest.sha256, fileCount: 1, totalBytes: page.bytes };
    const content = (await repositories.head(siteId, 'content')) ?? null;
    const built = `update deployment set source_commit = ?, content_commit = ? where id = ?`;
    await deps.em().execute(built, [commit, content, body.build_id]);
    await storeDraft(deps.em(), clock, body.build_id, { output, publishedOutput: null, image: 'x' });
  }

  /** The picture of the version for its card, as a browser leaves it. */
  async function pictured(siteId: string, id: string): Promise<void> {
    const { sha256 } = await deps.store.put(png);
    const site = deps.em().getReference(Site, siteId);
    await draw(deps, { id, site }, { card: true }, { pictures: [sha256], result: null });
  }

  /** An owner with a site whose newest version failed. `text` is in everything that others can write. */
  async function newBusySite(text: string) {
    const owner = await people.newSignedIn(text.slice(0, 60));
    const site = await createSite(owner, { title: text.slice(0, 80) });
    const comment = { page: '/', body: text, position: { quote: text.slice(0, 300) } };
    const body = { ...comment, screenshot_base64: png.toString('base64') };
    const { body: thread } = await owner.call('POST', `/v1/sites/${site.id}/comments`, { body });
    await addVersion(people, site.id, 'retired');
    await pictured(site.id, await addVersion(people, site.id, 'live'));
    await addVersion(people, site.id, 'failed', text);
    await addViews(people, site.id, text.slice(0, 60));
    return { owner, site, thread };
  }

  /** A page of the console in a browser in which the owner signs in. */
  async function open({ email }: Pick<SignedIn, 'email'>, path: string, look: Look = {}) {
    const page = await browsing.newPage(look);
    await page.goto(`${here}/signin`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send me a link' }).click();
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    await page.goto(`${here}${await people.linkTo(email, 'signin-link')}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${here}/account`);
    await page.goto(`${here}${path}`);
    return page;
  }

  return {
    ...people,
    ...{ here, addDraft, newBusySite, open, keep: browsing.keep },
    async close() {
      await browsing.close();
      await people.close();
    },
  };
}
export type ConsoleFixture = Awaited<ReturnType<typeof createConsoleFixture>>;
