import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endPlanGrant, grantPlan } from '#api/billing/grants.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { newId } from '#runtime/ids.ts';
import { type Answer, type Caller, createSite, errorOf } from '#test/api/fixture.ts';
import { type BillingFixture, createBillingFixture, dayMs } from './fixture.ts';

/** Caps that a test reaches soon, on the plan that everybody has; those of hobby are twice as much. */
const small: Record<string, number> = {
  sites: 2,
  collaborators_per_site: 1,
  preview_slots: 1,
  file_bytes: 2000,
  site_files: 40,
  site_bytes: 4_000_000,
  uploads_under_way: 1,
  sketches: 1,
  publishes_per_hour: 1,
  uploads_per_hour: 1,
  files_per_day: 2,
  feedback_per_day: 1,
  open_comments_per_site: 1,
  forms_per_site: 1,
  tokens: 3,
};

let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await createBillingFixture({
    worker: false,
    env: { FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9', FRONTAGE_CHALLENGE_KEY: 'a key of the tests' },
    plans: ([free, hobby, ...rest]) => {
      const doubled = Object.fromEntries(Object.entries(small).map(([name, value]) => [name, value * 2]));
      if (!free || !hobby) throw new Error('the catalog has these');
      Object.assign(free.limits, small);
      Object.assign(hobby.limits, doubled);
      return [free, hobby, ...rest];
    },
  });
});
afterAll(() => fixture?.close());

const upgrade = (owner: Caller, plan = 'hobby') => {
  const endsAt = new Date(fixture.clock.now().getTime() + dayMs);
  return grantPlan(fixture.deps.em(), fixture.deps, { accountId: owner.accountId, plan, endsAt });
};
const downgrade = (owner: Caller) => endPlanGrant(fixture.deps.em(), fixture.deps, owner.accountId);
async function join(siteId: string): Promise<Caller> {
  const caller = await fixture.newCaller();
  const em = fixture.deps.em();
  em.create(Collaborator, { site: siteId, account: caller.accountId, since: fixture.clock.now() });
  await em.flush();
  return caller;
}

type Setting = { owner: Caller; site: { id: string } };
type Act = (caller: Caller, setting: Setting, at: number) => Promise<Answer>;

const field = { name: 'a', label: 'A', kind: 'text' };
/** For each cap that is counted: one act that takes one of it. */
const acts: Record<string, { act: Act; code?: string; taken?: number }> = {
  sites: {
    act: (caller, _setting, at) =>
      caller.call('POST', '/v1/sites', { body: { name: `x-${newId('site').slice(5)}${at}`.slice(0, 39), title: 'T' } }),
    taken: 1,
  },
  collaborators_per_site: {
    act: (caller, { site }, at) =>
      caller.call('POST', `/v1/sites/${site.id}/collaborators`, { body: { email: `g${at}-${site.id}@example.com` } }),
  },
  open_comments_per_site: {
    act: (caller, { site }) => caller.call('POST', `/v1/sites/${site.id}/comments`, { body: { page: '/', body: 'x' } }),
  },
  forms_per_site: {
    act: (caller, { site }) =>
      caller.call('POST', `/v1/sites/${site.id}/forms`, { body: { name: 'F', fields: [field] } }),
  },
  sketches: {
    act: (caller) =>
      caller.call('POST', '/v1/sketches', { body: { title: 'T', directions: [{ name: 'One', html: '<p>1' }] } }),
  },
  tokens: { act: (caller, _setting, at) => caller.call('POST', '/v1/tokens', { body: { name: `t${at}` } }), taken: 1 },
  feedback_per_day: {
    act: (caller) => caller.call('POST', '/v1/feedback', { body: { kind: 'defect', message: 'x' } }),
    code: 'rate_limited',
  },
  publishes_per_hour: {
    act: (caller, { site }) =>
      caller.call('POST', `/v1/sites/${site.id}/publish`, {
        headers: { prefer: 'respond-async', 'cache-control': 'no-cache' },
      }),
    code: 'rate_limited',
  },
  uploads_per_hour: {
    act: (caller, { site }) => caller.call('POST', `/v1/sites/${site.id}/deployments`),
    code: 'rate_limited',
  },
  files_per_day: {
    act: (caller, { site }, at) =>
      caller.call('POST', `/v1/sites/${site.id}/commits`, {
        body: { message: 'm', changes: [{ path: `public/${at}.pdf`, base64: pdf(at) }] },
      }),
    code: 'rate_limited',
  },
};
const pdf = (at: number) => Buffer.from(`%PDF-1.4\n%${at}\n%%EOF\n`).toString('base64');
const isOwners = (name: string) =>
  ['sites', 'sketches', 'tokens', 'feedback_per_day', 'collaborators_per_site'].includes(name);

async function setting(): Promise<Setting> {
  const owner = await fixture.newCaller();
  return { owner, site: await createSite(owner, { template: 'blank' }) };
}

describe.each(Object.entries(acts))('the cap %s', (name, { act, code = 'plan_limit', taken = 0 }) => {
  test('is that of the plan, and a larger plan allows more', async () => {
    const place = await setting();
    const { owner } = place;
    const free = (small[name] ?? 0) - taken;
    for (let at = 0; at < free; at++) expect((await act(owner, place, at)).status).toBe(200);
    const refused = errorOf(await act(owner, place, 90));
    expect(refused.code).toBe(code);
    if (code === 'plan_limit') {
      expect(refused.message).toContain('The free plan has a limit of');
      expect(refused.next_action).toContain(`The hobby plan raises \`limits.${name}\` to ${2 * (small[name] ?? 0)}`);
      expect(refused.next_action).toContain('POST /v1/billing/checkout');
    }
    await upgrade(owner);
    for (let at = 0; at < (small[name] ?? 0); at++) expect((await act(owner, place, 100 + at)).status).toBe(200);
    expect(errorOf(await act(owner, place, 200)).code).toBe(code);
  });
});

describe.each(Object.entries(acts).filter(([name]) => !isOwners(name)))(
  'the cap %s of a site',
  (name, { act, code = 'plan_limit' }) => {
    test('is that of the owner, whichever member acts', async () => {
      const place = await setting();
      const collaborator = await join(place.site.id);
      await upgrade(collaborator, 'studio');
      for (let at = 0; at < (small[name] ?? 0); at++) expect((await act(collaborator, place, at)).status).toBe(200);
      const refused = errorOf(await act(collaborator, place, 90));
      expect(refused.code).toBe(code);
      if (code === 'plan_limit')
        expect(refused.next_action).toMatch(/the site owner’s plan; the owner can raise it with the hobby plan/);
    });
  },
);

describe('sizes', () => {
  const pushText = (bytes: number) => ({
    message: 'm',
    changes: [{ path: 'src/pages/a.md', text: 'x'.repeat(bytes) }],
  });

  test('of files, sites and manifests follow the owner’s plan, on every path', async () => {
    const { owner, site } = await setting();
    const collaborator = await join(site.id);
    const put = (who: Caller) =>
      who.call('PUT', `/v1/sites/${site.id}/assets/public/a.pdf`, {
        raw: Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(2500, '\n'), Buffer.from('%%EOF\n')]),
        headers: { 'content-type': 'application/pdf' },
      });
    const commit = (who: Caller) => who.call('POST', `/v1/sites/${site.id}/commits`, { body: pushText(2500) });
    const link = (who: Caller) =>
      who.call('POST', `/v1/sites/${site.id}/uploads`, { body: { expires_in_seconds: 60, max_file_bytes: 2500 } });
    for (const act of [put, commit]) {
      expect(errorOf(await act(owner))).toMatchObject({
        code: 'plan_limit',
        next_action: expect.stringContaining('The hobby plan raises `limits.file_bytes` to 4000'),
      });
      expect(errorOf(await act(collaborator)).next_action).toContain('the site owner’s plan; the owner can raise it');
    }
    expect(errorOf(await link(owner)).code).toBe('invalid_upload');
    const upload = await owner.call('POST', `/v1/sites/${site.id}/deployments`);
    const name = (bytes: number, count = 1) =>
      owner.call('POST', `/v1/deployments/${upload.body.id}/manifest`, {
        body: {
          files: Array.from({ length: count }, (_, at) => ({
            path: `f${bytes}-${at}.html`,
            sha256: `${bytes}${at}`.padStart(64, '0'),
            bytes,
          })),
        },
      });
    expect(errorOf(await name(2500)).next_action).toContain('limits.file_bytes');
    expect(errorOf(await name(10, 41)).next_action).toContain('limits.site_files');
    await upgrade(owner);
    for (const act of [put, commit, link, () => name(2500), () => name(10, 41)])
      expect((await act(collaborator)).status).toBe(200);
  });
});

describe('preview slots', () => {
  test('follow the plan; a slot beyond a smaller plan can be read and cleared', async () => {
    const { owner, site } = await setting();
    const path = (slot: number) => `/v1/sites/${site.id}/previews/${slot}`;
    expect(errorOf(await owner.call('POST', path(2)))).toMatchObject({
      code: 'invalid_slot',
      next_action: expect.stringContaining('The hobby plan raises `limits.preview_slots` to 2'),
    });
    expect((await owner.call('GET', `/v1/sites/${site.id}/previews`)).body.items).toHaveLength(1);
    expect(errorOf(await owner.call('GET', path(2))).code).toBe('invalid_slot');
    await upgrade(owner);
    const built = await owner.call('POST', path(2), { headers: { prefer: 'respond-async' } });
    expect(built.body).toMatchObject({ slot: 2, status: 'building' });
    await downgrade(owner);
    expect((await owner.call('GET', path(2))).status).toBe(200);
    expect(errorOf(await owner.call('POST', path(2))).code).toBe('invalid_slot');
  });
});

test('a smaller plan keeps existing data, and refuses new data', async () => {
  const { owner, site } = await setting();
  await upgrade(owner);
  for (const at of [1, 2, 3]) expect((await acts.sites?.act(owner, { owner, site }, at))?.status).toBe(200);
  for (const at of [1, 2]) expect((await acts.forms_per_site?.act(owner, { owner, site }, at))?.status).toBe(200);
  await downgrade(owner);
  const { body } = await owner.call('GET', '/v1/account');
  expect(body.limits.sites).toEqual({ value: 2, used: 4 });
  expect((await owner.call('GET', '/v1/sites')).body.items).toHaveLength(4);
  expect((await owner.call('GET', `/v1/sites/${site.id}/forms`)).body.items).toHaveLength(2);
  expect((await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'New' } })).status).toBe(200);
  expect(errorOf((await acts.sites?.act(owner, { owner, site }, 9)) as Answer).code).toBe('plan_limit');
  expect(errorOf((await acts.forms_per_site?.act(owner, { owner, site }, 9)) as Answer).code).toBe('plan_limit');
});
