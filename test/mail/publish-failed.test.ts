/** E-mails to owners about publishes that failed, as they arrive. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishingActivities } from '#activities/publishing.ts';
import { chooseMails } from '#db/accounts/mail-choices.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { Mail } from '#db/mail/mail.ts';
import { type Caller, createSite, errorOf } from '#test/api/fixture.ts';
import { sender } from '#test/output/sending.ts';
import { acceptedDraft, acceptedPublish } from '#test/publishing/acceptance.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';

let fixture: MailFixture;
beforeAll(async () => {
  fixture = await createMailFixture();
}, 60_000);
afterAll(() => fixture?.close());

const hourMs = 3600_000;
const faulty = { 'index.html': '<title>Hi</title>', _redirects: '/a /b 999\n' };

async function newSite() {
  const caller = await fixture.newCaller();
  const site = await createSite(caller, { template: 'blank' });
  const { email } = (await caller.call('GET', '/v1/account')).body;
  const upload = sender(caller);
  return {
    caller,
    site,
    email: email as string,
    hostname: `${site.name}.sites.localhost`,
    /** Uploads a version that cannot go live. */
    async fail() {
      const deployment = await upload.begin(site);
      await upload.fill(deployment, faulty);
      return errorOf(await upload.complete(deployment));
    },
    succeed: () => upload.publish(site, { 'index.html': `<title>${crypto.randomUUID()}</title>` }),
    received: (count: number) =>
      until(
        () => fixture.mailsTo(email),
        ({ length }) => length === count,
      ),
    queued: () => fixture.deps.em().count(Mail, { kind: 'publish-failed', siteId: site.id }),
  };
}

/** A publish from the source that its workflow ends as failed. */
async function failedBuild(siteId: string, caller: Caller, change: Partial<Deployment> = {}): Promise<void> {
  const { deps } = fixture;
  const { id } = await acceptedPublish(deps, { siteId, createdBy: caller.accountId });
  await deps.em().nativeUpdate(Deployment, { id }, change);
  const { failPublish } = publishingActivities(deps);
  // An activity whose answer was lost runs again.
  for (let n = 0; n < 2; n++)
    expect(await failPublish(id, 'build_failed', 'src/pages/index.astro has a fault.')).toBe('failed');
}

test('the owner receives who published, what failed, and links to their pages', async () => {
  const site = await newSite();
  const error = await site.fail();
  const [mail] = await site.received(1);
  expect(mail?.subject).toMatch(new RegExp(`^${site.hostname}: Version \\d+ could not be published$`));
  expect(mail?.headers.from).toContain(`${site.hostname} via `);
  for (const part of ['Published by: the agent first', 'has not been published yet', `> ${error.message}`])
    expect(mail?.text).toContain(part);
  const { baseUrl } = fixture.config;
  expect(mail?.text).toContain(`See the version:\n${baseUrl}/account/sites/${site.site.id}/versions/`);
  expect(mail?.text).toContain(`Choose which e-mails you get: ${baseUrl}/account/mails`);
});

test('a site that fails again sends no second e-mail until a publish succeeds', async () => {
  const site = await newSite();
  await site.fail();
  await site.fail();
  expect(await site.queued()).toBe(1);
  const live = await site.succeed();
  await site.fail();
  expect(await site.queued()).toBe(2);
  const [second] = await site.received(2);
  expect(second?.text).toContain('still online, as it was before');
  // A restore is no publish: an agent could alternate the two.
  await site.succeed();
  await site.fail();
  expect((await site.caller.call('POST', `/v1/deployments/${live.id}/restore`)).status).toBe(200);
  await site.fail();
  expect(await site.queued()).toBe(3);
});

test('a site that keeps failing sends an e-mail each day', async () => {
  const site = await newSite();
  await site.fail();
  fixture.skip(23 * hourMs);
  await site.fail();
  expect(await site.queued()).toBe(1);
  fixture.skip(hourMs);
  await site.fail();
  expect(await site.queued()).toBe(2);
});

test('a site whose publishes fail and succeed in turn sends five e-mails a day', async () => {
  const site = await newSite();
  for (let n = 0; n < 7; n++) {
    await site.fail();
    await site.succeed();
  }
  expect(await site.queued()).toBe(5);
});

test('a failed build is mailed once, however often it is recorded', async () => {
  const { site, caller, queued, received } = await newSite();
  await failedBuild(site.id, caller);
  expect(await queued()).toBe(1);
  const [mail] = await received(1);
  expect(mail?.text).toContain('The site’s code has an error in src/pages/index.astro.');
  expect(mail?.text).toContain('> src/pages/index.astro has a fault.');
});

test('the owner reads that somebody else pushed', async () => {
  const { site, received } = await newSite();
  const other = await fixture.newCaller();
  const { name } = (await other.call('GET', '/v1/account')).body;
  await failedBuild(site.id, other, { createdVia: 'git' });
  expect((await received(1))[0]?.text).toContain(`Published by: a push with git by ${name}`);
});

test('a failed draft, and an owner who wants none, send no e-mail', async () => {
  const { site, caller, queued } = await newSite();
  const { id } = await acceptedDraft(fixture.deps, { siteId: site.id, slot: 1, createdBy: caller.accountId });
  await publishingActivities(fixture.deps).failPublish(id, 'build_failed', 'It has a fault.');
  expect(await queued()).toBe(0);
  await chooseMails(fixture.deps.em(), fixture.clock, caller, ['agents']);
  await failedBuild(site.id, caller);
  expect(await queued()).toBe(0);
  await chooseMails(fixture.deps.em(), fixture.clock, caller, ['publishes']);
  await failedBuild(site.id, caller);
  expect(await queued()).toBe(1);
});
