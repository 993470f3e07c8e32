/**
 * Checks of pages: thirty planted faults, a faultless twin, and what follows a publish by itself.
 *
 * @module-tag chromium
 * @module-tag bubblewrap
 */
import { afterAll, expect, test, vi } from 'vitest';
import { faults, paths, plantedSite, wholeFaults } from '#test/renderings/faults.ts';
import { createRenderingFixture, goodPage, sizeOf } from '#test/renderings/fixture.ts';
import { until } from '#test/stack/until.ts';

// A busy machine shows pages slowly.
vi.setConfig({ testTimeout: 300_000 });
const fixture = await createRenderingFixture({ withBrowser: true });
afterAll(() => fixture.close());
const { owner } = fixture;

type Found = {
  kind: string;
  severity: string;
  page: string;
  selector: string | null;
  text: string;
  advice: string;
  crop_url: string | null;
};

async function check(deployment: string, body: { paths?: string[] }) {
  const { id } = (
    await owner.call('POST', `/v1/deployments/${deployment}/checks`, { body, headers: { prefer: 'respond-async' } })
  ).body;
  const read = async () =>
    (await owner.call('GET', `/v1/checks/${id}?limit=200`, { headers: { prefer: 'wait=20' } })).body;
  return await until(read, ({ status }) => status === 'done', 280_000);
}

test('twenty-eight of thirty planted faults are found, each with its place', async () => {
  const { deployment } = await fixture.show(plantedSite('bad'));
  const { findings, id } = await check(deployment, { paths });
  const isFound = (kind: string, page: string, by?: string) =>
    (findings as Found[]).some(
      (one) =>
        one.kind === kind &&
        (by === undefined ? one.page === page && one.selector === null : `${one.selector} ${one.text}`.includes(by)),
    );
  const missed = [
    ...faults.filter(({ kind, page, by }) => !isFound(kind, page, by)).map(({ kind, by }) => `${kind} ${by}`),
    ...wholeFaults.filter(({ kind, page }) => !isFound(kind, page)).map(({ kind, page }) => `${kind} ${page}`),
  ];
  expect(faults.length + wholeFaults.length).toBe(30);
  expect(missed.length, `missed: ${missed.join('; ')}`).toBeLessThanOrEqual(2);
  expect(findings.map(({ severity }: Found) => severity)).toEqual(
    findings
      .map(({ severity }: Found) => severity)
      .toSorted(
        (a: string, b: string) => ['error', 'warning', 'notice'].indexOf(a) - ['error', 'warning', 'notice'].indexOf(b),
      ),
  );
  expect(findings.filter(({ advice }: Found) => advice === '')).toEqual([]);
  const short = (await owner.call('GET', `/v1/checks/${id}`)).body;
  expect([short.findings.length, short.more]).toEqual([20, findings.length - 20]);
  expect(short.next_action).toContain(`GET /v1/checks/${id}?limit=200`);
  const crop = new URL(findings.find(({ crop_url }: Found) => crop_url).crop_url);
  const shown = await fetch(`${fixture.url}${crop.pathname}`, { headers: { authorization: `Bearer ${owner.token}` } });
  expect(sizeOf(Buffer.from(await shown.arrayBuffer())).type).toBe('webp');
  expect((await owner.call('GET', `/v1/checks/${id}/crops/99`)).status).toBe(404);
});

test('nothing is found in the faultless twin', async () => {
  const { deployment } = await fixture.show(plantedSite('good'));
  const { findings, pages } = await check(deployment, { paths });
  expect(findings).toEqual([]);
  expect(pages).toEqual(paths);
});

test('what lies on another host is not checked, and is never broken', async () => {
  const away = `<img alt="Far" src="https://far.example/x.png" width="10" height="10"><link rel="stylesheet" href="https://far.example/x.css">
    <script src="https://far.example/library.js"></script><script>Library.start()</script><a href="https://far.example/gone">Far away</a>`;
  const { deployment } = await fixture.show({ 'index.html': goodPage(away) });
  expect((await check(deployment, {})).findings).toEqual([]);
});

test('odd addresses end no check, and the fortieth link is looked up', async () => {
  const name = (n: number) => (n === 39 ? 'gone' : `page-${n}`);
  const links = Array.from({ length: 40 }, (_, n) => `<p><a href="/${name(n)}">Page ${n}</a></p>`);
  const odd = '<p id="100%"><a href="#100%">All of it</a></p><img alt="Nowhere" src="http://" width="20" height="20">';
  const pages = Array.from({ length: 39 }, (_, n) => [`${name(n)}.html`, goodPage(`Page ${n}`)]);
  const { deployment } = await fixture.show({
    ...Object.fromEntries(pages),
    'index.html': goodPage(odd + links.join('')),
  });
  const { findings } = await check(deployment, { paths: ['/'] });
  expect(findings.map(({ kind, text }: Found) => [kind, text])).toEqual([
    ['broken_picture', 'http://'],
    ['broken_link', 'Page 39 (/gone)'],
  ]);
});

test('after a publish the pages that changed are checked, without a call', async () => {
  const files = { 'index.html': goodPage('Home'), 'about.html': goodPage('About'), 'new.html': goodPage('Old') };
  const { publish } = await fixture.show(files);
  const later = await publish({ ...files, 'new.html': goodPage('<p style="color: #ccc">New</p>') });
  type Row = { asked: boolean; result: { pages: string[]; findings: Found[] } };
  const read = () =>
    fixture.deps
      .em()
      .execute<Row[]>(
        `select asked, result from rendering where deployment_id = ? and kind = 'checks' and status = 'done'`,
        [later],
      );
  const [row] = await until(read, ({ length }) => length === 1, 200_000);
  expect([row?.asked, row?.result.pages]).toEqual([false, ['/new']]);
  expect(row?.result.findings).toMatchObject([{ kind: 'contrast', page: '/new' }]);
  expect((await owner.call('POST', `/v1/deployments/${later}/checks`, { body: {} })).body).toMatchObject({
    status: 'done',
    pages: ['/new'],
  });
});
