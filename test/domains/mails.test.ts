/**
 * E-mails about a domain, through a real mail server: live, in trouble, and live again.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { domainActivities } from '#activities/domains.ts';
import { Account } from '#db/accounts/account.ts';
import { Domain } from '#db/domains/domain.ts';
import { Mail } from '#db/mail/mail.ts';
import { systemClock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { type Caller, createSite } from '#test/api/fixture.ts';
import { signedIn } from '#test/console/session.ts';
import { until } from '#test/stack/until.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';
import { createDomainFixture, type DomainFixture, type Shown } from './fixture.ts';

let catcher: Awaited<ReturnType<typeof startMailCatcher>>;
let fixture: DomainFixture;
beforeAll(async () => {
  catcher = await startMailCatcher({ clock: systemClock });
  fixture = await createDomainFixture({ FRONTAGE_SMTP_URL: catcher.smtpUrl, FRONTAGE_RATE_SCALE: '50' });
}, 60_000);
afterAll(async () => {
  await fixture?.close();
  await catcher?.close();
});

/** The kinds of the account's e-mails, oldest first. */
async function kindsTo({ accountId }: Caller): Promise<string[]> {
  const mails = await fixture.deps.em().find(Mail, { accountId }, { orderBy: { id: 'asc' } });
  return mails.map(({ kind }) => kind);
}

async function received(owner: Caller, count: number) {
  const to = await fixture.emailOf(owner);
  return await until(
    () => catcher.messages(to),
    ({ length }) => length >= count,
  );
}

const pointElsewhere = ({ domain }: Shown) => fixture.dns.set(domain, 'A', '192.0.2.9');
const loseProof = ({ domain }: Shown) => fixture.dns.set(`_frontage.${domain}`, 'TXT');

test('the owner is e-mailed once that a domain is live, troubled, and live again', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner);
  const site = await createSite(owner);
  await owner.call('POST', `/v1/domains/${domain.id}/attach`, { body: { site_id: site.id } });
  for (let n = 0; n < 3; n++) await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live']);
  pointElsewhere(domain);
  await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live']);
  for (let n = 0; n < 3; n++) await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live', 'domain-trouble']);
  const { problems } = await fixture.read(owner, domain);
  fixture.setUp(domain);
  for (let n = 0; n < 3; n++) await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live', 'domain-trouble', 'domain-live']);
  const texts = new Map((await received(owner, 3)).map(({ subject, text }) => [subject, text]));
  const says = (words: string) => texts.get(`${domain.domain}: ${words}`);
  expect(says('Your domain is live')).toMatch(new RegExp(`^${domain.domain} is live\n`));
  expect(says('Your domain is live')).toContain('shows no website yet');
  expect(says('Something is wrong with your domain')).toContain(problems[0]);
  expect(says('Your domain works again')).toMatch(new RegExp(`^${domain.domain} works again\n`));
  expect(says('Your domain works again')).toContain(`//${domain.domain}`);
  const ofSite = `/account/sites/${site.id}/domains/${domain.id}`;
  const browser = await signedIn(fixture, owner.accountId);
  for (const [words, path] of [
    ['Your domain is live', '/account/settings'],
    ['Something is wrong with your domain', ofSite],
    ['Your domain works again', ofSite],
  ] as const) {
    expect(says(words)).toContain(`:\n${fixture.config.baseUrl}${path}\n`);
    expect(says(words)).toContain('/account/mails');
    const page = await browser.open(path);
    expect([page.status, page.text.includes(domain.domain)]).toEqual([200, true]);
  }
  pointElsewhere(domain);
  for (let n = 0; n < 2; n++) await fixture.check(owner, domain);
  expect((await kindsTo(owner)).at(-1)).toBe('domain-trouble');
});

test('a missing proof is e-mailed once, also if the owner wants no such e-mails', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner);
  await fixture.deps.em().nativeUpdate(Account, { id: owner.accountId }, { mailChoices: { domains: false } });
  loseProof(domain);
  await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live']);
  for (let n = 0; n < 3; n++) await fixture.check(owner, domain);
  pointElsewhere(domain);
  for (let n = 0; n < 3; n++) await fixture.check(owner, domain);
  fixture.setUp(domain);
  await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live', 'domain-proof-missing']);
  const mails = await received(owner, 2);
  const missing = mails.find(({ subject }) => subject === `${domain.domain}: A DNS record of your domain is missing`);
  expect(missing?.text).toContain(`_frontage.${domain.domain}`);
  const button = /^https?:\S+$/m.exec(missing?.text ?? '')?.[0] ?? '';
  expect(button.startsWith(fixture.config.baseUrl)).toBe(true);
  const page = await (await signedIn(fixture, owner.accountId)).open(button.slice(fixture.config.baseUrl.length));
  expect([page.status, page.text.includes(domain.domain)]).toEqual([200, true]);
});

test('a lost registration is one e-mail, which names the missing proof too', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner);
  fixture.dns.forget(domain.domain);
  for (let n = 0; n < 4; n++) await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live', 'domain-trouble']);
  const [mail] = (await received(owner, 2)).filter(({ subject }) => subject.includes('Something is wrong'));
  for (const problem of (await fixture.read(owner, domain)).problems) expect(mail?.text).toContain(problem);
  expect(mail?.text).toContain('is not registered');
});

test('checks whose queries fail e-mail nothing', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner);
  const { settleDomain } = domainActivities(fixture.deps);
  fixture.dns.fault = ({ name }) => (name.endsWith(domain.domain) ? 'SERVFAIL' : undefined);
  for (let n = 0; n < 3; n++) {
    fixture.skip(3600_000);
    await settleDomain(domain.id);
  }
  fixture.dns.fault = () => undefined;
  const { sight } = await fixture.deps.em().findOneOrFail(Domain, { id: domain.id });
  expect(sight).toMatchObject({ a: { unknown: true }, registered: 'unknown' });
  await fixture.check(owner, domain);
  expect(await kindsTo(owner)).toEqual(['domain-live']);
});

test('an account gets 40 e-mails about its domains an hour, and later ones afterwards', async () => {
  const owner = await fixture.newCaller();
  const { deps, clock, config } = fixture;
  await deps.em().execute(
    `insert into mail (id, kind, status, account_id, created_at, settled_at)
     select ? || n, 'domain-trouble', 'sent', ?, ?, ? from generate_series(1, ?) as n`,
    [newId('mail'), owner.accountId, clock.now(), clock.now(), Math.ceil(40 * config.rateScale)],
  );
  const domain = await fixture.active(owner);
  expect(await kindsTo(owner)).not.toContain('domain-live');
  await fixture.check(owner, domain, 3600_000);
  expect(await kindsTo(owner)).toContain('domain-live');
});
