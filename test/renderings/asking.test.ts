/** What calls for screenshots and checks refuse, and what they answer while nothing is drawn yet. No browser is needed. */
import { afterAll, expect, test } from 'vitest';
import { renderingActivities } from '#activities/rendering.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { Rendering, type Work } from '#db/renderings/rendering.ts';
import { failRendering, finishRendering, queueRendering } from '#db/renderings/transitions.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { createFixture as createApiFixture } from '#test/api/fixture.ts';
import { createRenderingFixture, errorOf, goodPage } from './fixture.ts';

const fixture = await createRenderingFixture({ limits: { screenshots_per_hour: 3 } });
afterAll(() => fixture.close());
const { owner } = fixture;
const { deployment } = await fixture.show({ 'index.html': goodPage('Hello'), 'about.html': goodPage('About') });
const soon = { headers: { prefer: 'respond-async' } };
const ask = (query: string, caller = owner) =>
  caller.call('GET', `/v1/deployments/${deployment}/screenshot${query}`, soon);

test('numbers out of range are refused, and the message names the range', async () => {
  for (const [query, words] of [
    ['?width=319', 'width must be a whole number from 320 to 1920'],
    ['?width=1921', 'from 320 to 1920'],
    ['?width=390.5', 'from 320 to 1920'],
    ['?height=2161', 'from 320 to 2160'],
    ['?height=tall', 'height'],
    ['?scheme=sepia', 'scheme'],
    ['?format=gif', 'format'],
    ['?path=about', 'begins with /'],
    ['?size=1', 'size'],
  ] as const) {
    const answer = await ask(query);
    expect(errorOf(answer), query).toMatchObject({ code: 'invalid_input' });
    expect(errorOf(answer).message, query).toContain(words);
  }
});

test('a path that the version lacks is not found, and strangers find nothing', async () => {
  const missing = await ask('?path=/missing');
  expect([missing.status, errorOf(missing).code]).toEqual([404, 'not_found']);
  expect(errorOf(missing).next_action).toContain(`/v1/deployments/${deployment}/files`);
  const stranger = await fixture.newCaller();
  expect(errorOf(await ask('', stranger)).code).toBe('not_found');
  const checks = await owner.call('POST', `/v1/deployments/${deployment}/checks`, {
    body: { paths: ['/missing'] },
    ...soon,
  });
  expect(errorOf(checks).code).toBe('not_found');
});

test('the same picture is drawn once, and the limit of an hour counts each', async () => {
  const first = await ask('?path=/about');
  expect([first.status, first.body]).toEqual([
    200,
    {
      status: 'queued',
      next_action: expect.stringContaining(`GET /v1/deployments/${deployment}/screenshot?path=/about`),
    },
  ]);
  expect((await ask('?path=/about&width=390&scheme=light')).body.status).toBe('queued');
  const checks = await owner.call('POST', `/v1/deployments/${deployment}/checks`, { body: {}, ...soon });
  expect(checks.body).toMatchObject({ status: 'queued', findings: [], more: 0 });
  expect(checks.body.next_action).toContain(`GET /v1/checks/${checks.body.id}`);
  expect((await owner.call('GET', `/v1/checks/${checks.body.id}`, soon)).body).toEqual(checks.body);
  expect((await ask('?path=/about&scheme=dark')).status).toBe(200);
  const { limits } = (await owner.call('GET', '/v1/account')).body;
  expect(limits.screenshots_per_hour).toMatchObject({ value: 3, used: 3 });
  const refused = await ask('?path=/about&width=1280');
  expect([refused.status, errorOf(refused).code]).toEqual([429, 'rate_limited']);
  expect((await ask('?path=/about')).status).toBe(200);
  fixture.skip(3_600_000);
  expect((await ask('?path=/about&width=1280')).status).toBe(200);
});

test('a page that cannot be shown fails, and further findings are a call away', async () => {
  const site = await fixture.show({ 'index.html': goodPage('Hello') });
  const again = await fixture.newCaller();
  expect((await again.call('GET', `/v1/deployments/${site.deployment}/screenshot`, soon)).status).toBe(404);
  const { deps, clock } = fixture;
  const found = {
    kind: 'contrast',
    severity: 'warning',
    page: '/',
    width: 390,
    selector: 'p',
    text: 'Pale',
    count: 1,
    picture: null,
  } as const;
  const findings = Array.from({ length: 21 }, () => ({ ...found, advice: 'Use colours with more contrast.' }));
  const rendering = async (prefix: 'shot' | 'check', work: Work) => {
    const deployment = await deps.em().findOneOrFail(Deployment, { id: site.deployment });
    const id = await deps
      .em()
      .transactional((tx) => queueRendering(tx, clock, { id: newId(prefix), deployment, work, asked: false }));
    return await deps.em().findOneOrFail(Rendering, { id });
  };
  const many = await rendering('check', { paths: null });
  await finishRendering(deps.em(), clock, many, { pictures: [], result: { findings, pages: ['/'], pagesLeft: 0 } });
  const { body } = await owner.call('GET', `/v1/checks/${many.id}`);
  expect([body.findings.length, body.more, body.next_action]).toEqual([20, 1, expect.stringContaining('limit=200')]);
  const crop = await owner.call('GET', `/v1/checks/${many.id}/crops/0`);
  expect(errorOf(crop).next_action).toContain(`GET /v1/checks/${many.id}`);
  const failed = await rendering('check', { paths: ['/'] });
  await failRendering(deps.em(), clock, failed.id, errors.page_not_shown('The page did not answer.').toBody());
  const shown = (await owner.call('GET', `/v1/checks/${failed.id}`)).body;
  expect(shown).toMatchObject({
    status: 'failed',
    error: { code: 'page_not_shown' },
    next_action: 'Start the checks again.',
  });
  const givenUp = await rendering('check', { paths: ['/'] });
  const { giveUpRendering } = renderingActivities(deps);
  for (const { id } of [givenUp, givenUp, failed, many]) await giveUpRendering(id);
  const errorNow = async ({ id }: Rendering) => (await owner.call('GET', `/v1/checks/${id}`)).body.error?.code;
  expect([await errorNow(givenUp), await errorNow(failed), await errorNow(many)]).toEqual([
    'screenshots_disabled',
    'page_not_shown',
    undefined,
  ]);
});

test('without a browser the calls say so, and the account does not list them', async () => {
  const other = await createApiFixture();
  try {
    const caller = await other.newCaller();
    expect((await caller.call('GET', '/v1/account')).body.capabilities.screenshots).toBe(false);
    const calls = [
      ['GET', '/v1/deployments/dep_x/screenshot'],
      ['POST', '/v1/deployments/dep_x/checks'],
      ['GET', '/v1/checks/check_x'],
    ] as const;
    for (const [method, path] of calls) {
      const refused = await caller.call(method, path, method === 'POST' ? { body: {} } : {});
      expect([refused.status, errorOf(refused).code], path).toEqual([503, 'screenshots_disabled']);
      expect(errorOf(refused).next_action).toContain('Chromium');
    }
  } finally {
    await other.close();
  }
});
