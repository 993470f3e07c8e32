/** Mails as they arrive: through the outbox, a workflow and a real SMTP server. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openAdvisoryLocks } from '#db/advisory-lock.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import { Mail } from '#db/mail/mail.ts';
import { settleMail } from '#db/mail/queue.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import type { Caller, Logged } from '#test/api/fixture.ts';
import { type People, people } from '#test/invitations/fixture.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';

let fixture: MailFixture;
let ask: People;
let owner: Caller;
let site: { id: string; name: string };
/** Told to the mail server, by the address they are about. */
const refusing = new Map<string, number>();
let count = 0;

beforeAll(async () => {
  fixture = await createMailFixture({ recipient: (address) => refusing.get(address) });
  ask = people(fixture);
  owner = await fixture.newCaller();
  site = await ask.newSite(owner);
}, 60_000);
afterAll(() => fixture?.close());

const newAddress = () => `guest-${++count}@example.com`;

async function invitation(id: string) {
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/invitations`);
  return body.items.find((one: { id: string }) => one.id === id);
}

test('an invitation’s mail arrives once, with its link and the hostname', async () => {
  const to = newAddress();
  const { body } = await ask.invite(owner, site.id, to);
  const [mail] = await until(
    () => fixture.mailsTo(to),
    ({ length }) => length > 0,
  );
  await until(
    () => invitation(body.id),
    (one) => one.mail === 'sent',
  );
  expect(fixture.mailsTo(to)).toHaveLength(1);
  const hostname = `${site.name}.sites.localhost`;
  const subject = `${hostname}: You have been invited to edit this website`;
  expect(mail).toMatchObject({ to: [to], from: 'hello@localhost', subject });
  expect(mail?.headers.from).toBe(`"${hostname} via Frontage" <hello@localhost>`);
  for (const form of [mail?.text, mail?.html]) {
    expect(form).toContain(hostname);
    expect(form).toContain(`${fixture.config.baseUrl}/invitations/${body.id}`);
    expect(form).not.toContain('Do not say this aloud');
  }
  expect(mail?.headers['message-id']).toMatch(/^<mail_[0-9a-z]{26}@localhost>$/);
  expect(mail?.headers['auto-submitted']).toBe('auto-generated');
});

test('a mail loads nothing, runs nothing and contains no tracking', async () => {
  const to = newAddress();
  await ask.invite(owner, site.id, to);
  const [mail] = await until(
    () => fixture.mailsTo(to),
    ({ length }) => length > 0,
  );
  expect(mail?.html).not.toMatch(/<(img|script|link|iframe|object|video|audio)\b|@import|url\(|\son\w+=/i);
  const addresses = [...(mail?.html ?? '').matchAll(/https?:\/\/[^"<\s]+/g)].map(([address]) => new URL(address));
  expect(new Set(addresses.map(({ origin }) => origin))).toEqual(new Set([fixture.config.baseUrl]));
  expect(addresses.map(({ search }) => search).filter(Boolean)).toEqual([]);
});

test('after sending, neither the address nor the text of a mail is stored', async () => {
  const to = newAddress();
  const { body } = await ask.invite(owner, site.id, to);
  await until(
    () => invitation(body.id),
    (one) => one.mail === 'sent',
  );
  const [row] = await fixture.deps
    .em()
    .execute<{ mail: string }[]>(
      'select to_jsonb(m)::text as mail from mail m join invitation i on i.mail_id = m.id where i.id = ?',
      [body.id],
    );
  expect(JSON.parse(row?.mail ?? '')).toMatchObject({ status: 'sent', sealed: null, failure: null });
  expect(row?.mail).not.toContain(to);
});

test('a permanently refused address fails its mail, and the record has the reason', async () => {
  const to = newAddress();
  refusing.set(to, 550);
  const { body } = await ask.invite(owner, site.id, to);
  const failed = await until(
    () => invitation(body.id),
    (one) => one.mail !== 'queued',
  );
  expect(failed).toMatchObject({ status: 'open', mail: 'not_sent', next_action: expect.stringContaining('DELETE') });
  expect(fixture.mailsTo(to)).toEqual([]);
  const mails = await fixture.deps.em().find(Mail, { status: 'failed' });
  expect(mails.map(({ failure }) => failure)).toContain('the recipient’s mail server refused the e-mail (550)');
});

test('a temporarily refused address gets its mail on a retry, once', async () => {
  const to = newAddress();
  refusing.set(to, 451);
  const { body } = await ask.invite(owner, site.id, to);
  await until(
    () => fixture.logged,
    (lines) => lines.some(({ msg }) => msg === 'an e-mail could not be sent yet'),
  );
  expect(await invitation(body.id)).toMatchObject({ mail: 'queued' });
  refusing.delete(to);
  await until(
    () => invitation(body.id),
    (one) => one.mail === 'sent',
  );
  expect(fixture.mailsTo(to)).toHaveLength(1);
});

test('the mail of a withdrawn invitation is not sent', async () => {
  const to = newAddress();
  refusing.set(to, 451);
  const { body } = await ask.invite(owner, site.id, to);
  expect((await ask.withdraw(owner, site.id, body.id)).body.mail).toBe('not_sent');
  refusing.delete(to);
  const handle = fixture.deps.temporal.workflow.getHandle(`mail:${await mailIdOf(body.id)}`);
  await until(
    () =>
      handle.describe().then(
        () => 'started',
        () => 'not yet',
      ),
    (seen) => seen === 'started',
  );
  expect(await handle.result()).toEqual({ status: 'failed' });
  expect(fixture.mailsTo(to)).toEqual([]);
});

test('a mail is settled once, despite later events', async () => {
  const to = newAddress();
  const { body } = await ask.invite(owner, site.id, to);
  await until(
    () => invitation(body.id),
    (one) => one.mail === 'sent',
  );
  const again = settleMail(fixture.deps.em(), fixture.clock, await mailIdOf(body.id), {
    status: 'failed',
    failure: 'late',
  });
  expect(await again).toBe(false);
  expect((await invitation(body.id)).mail).toBe('sent');
});

test('no address, link or text of a mail is in a log or history', async () => {
  const to = newAddress();
  refusing.set(to, 451);
  const { body } = await ask.invite(owner, site.id, to);
  const mailId = await mailIdOf(body.id);
  const waits = (line: Logged) => line.msg === 'an e-mail could not be sent yet' && line.mailId === mailId;
  await until(
    () => fixture.logged.filter(waits),
    ({ length }) => length > 0,
  );
  refusing.set(to, 554);
  await until(
    () => invitation(body.id),
    (one) => one.mail === 'not_sent',
  );
  const ids = [`mail:${mailId}`, `invitation:${body.id}`];
  const tell = async () => {
    const histories = await Promise.all(ids.map((id) => fixture.deps.temporal.workflow.getHandle(id).fetchHistory()));
    return JSON.stringify([histories.map(readable), fixture.logged]);
  };
  // The step says that it failed before its tries are in the history.
  const told = await until(tell, (text) => text.includes('not_taken'));
  for (const shown of ['not_taken', 'the mail server did not accept the e-mail (451)', mailId])
    expect(told.includes(shown)).toBe(true);
  for (const secret of [to, '/invitations/inv_', 'refused on purpose']) expect(told.includes(secret)).toBe(false);
});

async function mailIdOf(invitationId: string): Promise<string> {
  const [row] = await fixture.deps
    .em()
    .execute<{ mail_id: string }[]>('select mail_id from invitation where id = ?', [invitationId]);
  return row?.mail_id ?? '';
}

/** Payloads are base64 in a history's JSON; here they are text. */
function readable(history: unknown): string {
  return JSON.stringify(history).replace(/"data":"([\w+/=]*)"/g, (_all, data) =>
    Buffer.from(data, 'base64').toString(),
  );
}

test('a mail being sent by another process is not sent twice', async () => {
  const to = newAddress();
  const other = openAdvisoryLocks(fixture.config.databaseUrl, fixture.deps.log);
  onTestFinished(() => other.close());
  refusing.set(to, 451);
  const { body } = await ask.invite(owner, site.id, to);
  const invited = await fixture.deps.em().findOneOrFail(Invitation, { id: body.id });
  const workflow = workflowIds.notify(invited.mail?.id ?? '');
  const begun = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const act = () => {
    begun.resolve();
    return gone.promise;
  };
  // Before or between tries of the worker.
  const held = until(
    () => other.run(workflow, act),
    ({ busy }) => !busy,
  );
  await begun.promise;
  refusing.delete(to);
  const failure = async () => {
    const handle = fixture.deps.temporal.workflow.getHandle(workflow);
    const found = await handle.describe().catch(() => undefined);
    return found?.raw.pendingActivities?.[0]?.lastFailure?.message;
  };
  await until(failure, (message) => message === 'another attempt is running');
  expect(fixture.mailsTo(to)).toEqual([]);
  gone.resolve();
  await held;
  await until(
    () => invitation(body.id),
    (one) => one.mail === 'sent',
  );
  expect(fixture.mailsTo(to)).toHaveLength(1);
});
