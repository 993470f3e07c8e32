/** Enquiries are stored first and mailed second: whatever becomes of mail server and workers, none is lost. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlatformActivities } from '#activities/index.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { createMailFixture, type MailFixture } from '#test/mail/fixture.ts';
import { until } from '#test/stack/until.ts';
import { startWorker } from '#test/stack/worker.ts';
import { ada, challengeEnv, forms } from './fixture.ts';

let fixture: MailFixture;
let ask: ReturnType<typeof forms>;
const refusing = new Map<string, number>();
beforeAll(async () => {
  fixture = await createMailFixture({ recipient: (address) => refusing.get(address) }, challengeEnv);
  ask = forms(fixture);
});
afterAll(() => fixture?.close());

const dayMs = 24 * 3600_000;

test('a submission’s mail to notify_to names form and site, and can be replied to', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  const to = await ask.emailOf(member);
  const form = await ask.newForm(owner, { name: 'Order', notify_to: to }, site);
  const message = 'First line\nhttps://evil.example/<script>';
  const sent = await ask.send(form.id, { ...ada, message, _page: '/contact/', utm: 'spring' });
  const [mail] = await until(
    async () => (await fixture.mailsTo(to)).filter(({ subject }) => subject.includes('Order')),
    (mails) => mails.length > 0,
  );
  expect(mail?.subject).toBe(`${site.name}.${fixture.config.baseDomain}: New message: Order`);
  expect(mail?.headers['reply-to']).toBe('ada@example.com');
  for (const part of [
    'Your name: Ada',
    '> First line',
    '> https://evil.example/',
    '/contact/',
    'utm: spring',
    `${fixture.config.baseUrl}/account/sites/${site.id}/messages/${sent.body.id}\n`,
  ]) {
    expect(mail?.text).toContain(part);
  }
  expect(mail?.html).not.toContain('<script>');
  const read = async () => (await ask.submissions(owner, form.id)).body.items[0];
  expect(await until(read, ({ mail }) => mail === 'sent')).toMatchObject({ id: sent.body.id, page: '/contact/' });
});

test('a form acknowledges a submission once a day to each address', async () => {
  const owner = await fixture.newCaller();
  const text = 'We call you back.\nMonday to Friday.';
  const form = await ask.newForm(owner, { acknowledge: { text }, reply_to: await ask.emailOf(owner) });
  const to = `visitor-${form.id}@example.com`;
  const first = await ask.send(form.id, { ...ada, email: to });
  const again = await ask.send(form.id, { ...ada, email: to.toUpperCase() });
  const read = async (id: string) => (await owner.call('GET', `/v1/submissions/${id}`)).body.acknowledgement;
  await until(
    () => read(first.body.id),
    (status) => status === 'sent',
  );
  expect(await read(again.body.id)).toBeNull();
  const [mail, ...more] = await fixture.mailsTo(to);
  expect(more).toEqual([]);
  expect(mail?.subject).toBe(`${form.site.name}.${fixture.config.baseDomain}: We have received your message`);
  expect(mail?.headers['reply-to']).toBe(await ask.emailOf(owner));
  expect(mail?.text).toContain('> We call you back.');
  expect(mail?.text).not.toContain('Ada');
  const other = await ask.newForm(owner, { acknowledge: { text } }, form.site);
  const elsewhere = await ask.send(other.id, { ...ada, email: to });
  await until(
    () => read(elsewhere.body.id),
    (status) => status === 'sent',
  );
});

test('deleting the submission does not make a form acknowledge again', async () => {
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner, { acknowledge: { text: 'Thank you.' } });
  const email = `deleted-${form.id}@example.com`;
  const first = await ask.send(form.id, { ...ada, email });
  const deleted = await owner.call('DELETE', `/v1/submissions/${first.body.id}?confirm=true`);
  expect(deleted.status).toBe(200);
  const { body } = await ask.send(form.id, { ...ada, email });
  expect((await owner.call('GET', `/v1/submissions/${body.id}`)).body.acknowledgement).toBeNull();
});

test('an acknowledgement contains no address and no line of the site’s title', async () => {
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner, { acknowledge: { text: 'Thank you.' } });
  const retitle = (title: string) =>
    fixture.deps.em().execute('update site set title = ? where id = ?', [title, form.site.id]);
  const acknowledged = async (email: string) => {
    await ask.send(form.id, { ...ada, email });
    const [mail] = await until(
      () => fixture.mailsTo(email),
      ({ length }) => length > 0,
    );
    return mail;
  };
  await owner.call('PATCH', `/v1/sites/${form.site.id}`, { body: { title: 'Sign in at https://evil.example/login' } });
  const hostname = `${form.site.name}.${fixture.config.baseDomain}`;
  const linked = await acknowledged(`linked-${form.id}@example.com`);
  expect(linked?.text).toContain(`${hostname} writes:`);
  for (const part of [linked?.text, linked?.html]) expect(part).not.toContain('evil');
  // Titles of earlier releases may have several lines.
  await retitle('Bakery\n\nYour account is locked.');
  const forged = await acknowledged(`forged-${form.id}@example.com`);
  expect(forged?.text.replace(/\s+/g, ' ')).toContain('Bakery Your account is locked. writes:');
  expect(forged?.text).not.toContain('\n\nYour account');
});

test('simultaneous submissions from one address are acknowledged once', async () => {
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner, { acknowledge: { text: 'Thank you.' } });
  const email = `racer-${form.id}@example.com`;
  await Promise.all(Array.from({ length: 4 }, () => ask.send(form.id, { ...ada, email })));
  const items = (await ask.submissions(owner, form.id)).body.items;
  expect(items).toHaveLength(4);
  expect(items.filter(({ acknowledgement }: { acknowledgement: unknown }) => acknowledgement !== null)).toHaveLength(1);
});

test('over the limit of an address, the enquiry stands and is not acknowledged', async () => {
  const env = { ...challengeEnv, FRONTAGE_RATE_SCALE: '1', FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' };
  const limited = await createFixture(env);
  try {
    expect(await acknowledgementsOfSix(limited)).toEqual([...Array(5).fill('queued'), 'not_sent']);
  } finally {
    await limited.close();
  }
});

/** Of submissions from one address to six forms. */
async function acknowledgementsOfSix(limited: Fixture): Promise<string[]> {
  const ask = forms(limited);
  const owner = await limited.newCaller();
  const site = await ask.newSite(owner);
  const email = `flooded-${site.id}@example.com`;
  const statuses: string[] = [];
  for (let count = 0; count < 6; count++) {
    const form = await ask.newForm(owner, { acknowledge: { text: 'Thank you.' } }, site);
    const { body } = await ask.send(form.id, { ...ada, email });
    statuses.push((await owner.call('GET', `/v1/submissions/${body.id}`)).body.acknowledgement);
  }
  return statuses;
}

test('replies go to no one who has left the site', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  const form = await ask.newForm(owner, { reply_to: await ask.emailOf(member) }, site);
  expect(form.reply_to).toBe(await ask.emailOf(member));
  await ask.remove(owner, site.id, member.accountId);
  expect((await owner.call('GET', `/v1/forms/${form.id}`)).body.reply_to).toBeNull();
});

test('without a sender a submission is stored and not sent', async () => {
  const silent = await createFixture(challengeEnv);
  try {
    const there = forms(silent);
    const owner = await silent.newCaller();
    const form = await there.newForm(owner);
    expect(form.mail).toBeNull();
    await there.send(form.id);
    expect((await there.submissions(owner, form.id)).body.items[0]).toMatchObject({
      fields: ada,
      mail: null,
    });
  } finally {
    await silent.close();
  }
});

test('a submission is in the members’ inbox alone, also for long polls', async () => {
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner, { name: 'Order' });
  const waiting = owner.call('GET', '/v1/inbox?wait=25');
  const sent = await ask.send(form.id);
  const [item] = (await waiting).body.items;
  expect(item).toMatchObject({ kind: 'new_submission', id: sent.body.id, site: { id: form.site.id } });
  expect(item.next_action).toMatch(/^Tell the owner: they reply by e-mail/);
  expect(item.title).toContain('Order');
  const stranger = await fixture.newCaller();
  expect((await stranger.call('GET', '/v1/inbox')).body.items).toEqual([]);
});

test('a permanently refused mail is failed, and the submission is stored', async () => {
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner);
  refusing.set(await ask.emailOf(owner), 550);
  await ask.send(form.id);
  const read = async () => (await ask.submissions(owner, form.id)).body.items[0];
  expect(await until(read, ({ mail }) => mail !== 'queued')).toMatchObject({ fields: ada, mail: 'not_sent' });
});

test('without mail server and worker submissions are stored, and mails follow', async () => {
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner);
  const to = await ask.emailOf(owner);
  await Promise.all([fixture.stopMailServer(), fixture.stopWorker()]);
  const visitors = [0, 1, 2, 3, 4].map((one) => `Visitor ${one}`);
  const sent: string[] = [];
  for (const name of visitors) sent.unshift((await ask.send(form.id, { ...ada, name })).body.id);
  const list = async (): Promise<{ id: string; mail: string }[]> => (await ask.submissions(owner, form.id)).body.items;
  expect((await list()).map(({ id, mail }) => [id, mail])).toEqual(sent.map((id) => [id, 'queued']));
  await fixture.startMailServer();
  const worker = await startWorker(fixture.deps);
  try {
    await until(list, (items) => items.every(({ mail }) => mail === 'sent'), 80_000);
    const names = (await fixture.mailsTo(to)).map(({ text }) => /Your name: (.*)/.exec(text)?.[1]);
    expect(names.sort()).toEqual(visitors);
  } finally {
    await worker.close();
  }
}, 90_000);

test('after 180 days a submission is hidden at once, and the sweep deletes it', async () => {
  const old = await createFixture(challengeEnv);
  try {
    const there = forms(old);
    const owner = await old.newCaller();
    const form = await there.newForm(owner);
    await there.send(form.id);
    old.skip(180 * dayMs - 60_000);
    expect((await there.submissions(owner, form.id)).body.items).toHaveLength(1);
    old.skip(60_000);
    expect((await there.submissions(owner, form.id)).body.items).toEqual([]);
    expect((await there.submissions(owner, form.id, '?format=csv')).text.split('\r\n')).toHaveLength(2);
    expect((await owner.call('GET', `/v1/forms/${form.id}`)).body.submissions).toBe(0);
    const left = async () =>
      (await old.deps.em().execute('select 1 from submission union all select 1 from used_challenge')).length;
    expect(await left()).toBe(2);
    await createPlatformActivities(old.deps).sweepRows();
    expect(await left()).toBe(0);
  } finally {
    await old.close();
  }
});
