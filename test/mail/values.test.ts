/** `mail` of bookings, forms and submissions, compared with the queue and with what the mail server has, at that moment. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createFixture } from '#test/api/fixture.ts';
import { bookings } from '#test/bookings/fixture.ts';
import { ada, challengeEnv, forms } from '#test/forms/fixture.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';

// Each test makes several sites, and its e-mails are tried again at growing intervals: on a busy machine that takes long.
vi.setConfig({ testTimeout: 120_000 });
const waitsMostMs = 60_000;

let fixture: MailFixture;
let ask: ReturnType<typeof bookings>;
let forming: ReturnType<typeof forms>;
/** What the mail server answers about an address, and what happens while it receives an e-mail to one. */
const refusing = new Map<string, number>();
const whileReceiving = new Map<string, () => Promise<unknown>>();

beforeAll(async () => {
  fixture = await createMailFixture(
    {
      recipient: (address) => refusing.get(address),
      data: async ([to = '']) => void (await whileReceiving.get(to)?.()),
    },
    { ...challengeEnv, FRONTAGE_RATE_SCALE: '1' },
  );
  ask = bookings(fixture);
  forming = forms(fixture);
}, 60_000);
afterAll(() => fixture?.close());

type Naming = { table: 'booking' | 'submission'; column: 'mail_id' | 'notice_id' | 'acknowledgement_id'; id: string };

/** What has become of the e-mail that the row names: the mail server has it, the queue has it, or neither. */
async function known({ table, column, id }: Naming, to: string): Promise<string | null> {
  const rows = await fixture.deps
    .em()
    .execute<{ id: string; sealed: Buffer | null }[]>(
      `select m.id, m.sealed from mail m join ${table} t on t.${column} = m.id where t.id = ?`,
      [id],
    );
  const [mail] = rows;
  if (!mail) return null;
  if (fixture.mailsTo(to).some(({ headers }) => headers['message-id']?.includes(mail.id))) return 'sent';
  return mail.sealed ? 'queued' : 'not_sent';
}

let visitors = 0;

/** A site with a booking and a submission of one visitor, and what the API and the queue say of their e-mails. */
async function written(site: { visitor?: number; owner?: number } = {}, visitor = `visitor-${++visitors}@example.org`) {
  const made = await ask.newBookable();
  const { owner } = made;
  const to = await ask.emailOf(owner);
  if (site.visitor) refusing.set(visitor, site.visitor);
  if (site.owner) refusing.set(to, site.owner);
  const start = (await ask.slots(made.publicId, ask.dateIn(5)))[0]?.start ?? '';
  const booked = await ask.book(made.publicId, start, { visitor: { name: 'Ada Visitor', email: visitor } });
  const onSite = { ...made.site, address: '' };
  const form = await forming.newForm(owner, { acknowledge: { text: 'We call you back.' } }, onSite);
  const { body: sent } = await forming.send(form.id, { ...ada, email: visitor });
  const id = booked.body.id as string;
  const read = async (path: string) => (await owner.call('GET', path)).body;
  return {
    ...made,
    visitor,
    id,
    answered: booked.body.mail as string | null,
    async said() {
      const [booking, submission] = [await read(`/v1/bookings/${id}`), await read(`/v1/submissions/${sent.id}`)];
      const [listed] = (await read(`/v1/sites/${made.site.id}/forms`)).items;
      const { mail } = await read(`/v1/forms/${form.id}`);
      return [booking.mail, booking.notice, submission.acknowledgement, submission.mail, mail, listed.mail];
    },
    async known() {
      const submission = (column: Naming['column'], of: string) =>
        known({ table: 'submission', column, id: sent.id }, of);
      return [
        await known({ table: 'booking', column: 'mail_id', id }, visitor),
        await known({ table: 'booking', column: 'notice_id', id }, to),
        await submission('acknowledgement_id', visitor),
        ...Array(3).fill(await submission('mail_id', to)),
      ];
    },
  };
}

const all = (value: string) => Array(6).fill(value);
const allSettled = (said: () => Promise<(string | null)[]>) =>
  until(said, (values) => !values.includes('queued'), waitsMostMs);

test('the values are those of the queue, while e-mails wait and afterwards', async () => {
  const { said, known, visitor, owner } = await written({ visitor: 451, owner: 451 });
  const waiting = () => fixture.logged.filter(({ msg }) => msg === 'an e-mail could not be sent yet');
  await until(
    () => new Set(waiting().map(({ mailId }) => mailId)),
    ({ size }) => size === 4,
    waitsMostMs,
  );
  expect([await said(), await known()]).toEqual([all('queued'), all('queued')]);
  for (const to of [visitor, await ask.emailOf(owner)]) refusing.delete(to);
  await until(said, (values) => values.every((value) => value === 'sent'), waitsMostMs);
  expect(await known()).toEqual(all('sent'));
});

test('the values of refused e-mails are not_sent, each on its own', async () => {
  const { said, known } = await written({ visitor: 550 });
  const settled = await allSettled(said);
  expect(settled).toEqual(['not_sent', 'sent', 'not_sent', 'sent', 'sent', 'sent']);
  expect(await known()).toEqual(settled);
});

test('beyond the limit of an address the values are not_sent from the first answer', async () => {
  const visitor = 'capped@example.org';
  await Promise.all([written({}, visitor), written({}, visitor)]);
  // The fifth first e-mail is the booking’s; the acknowledgement is the sixth.
  const fifth = await written({}, visitor);
  expect(fifth.answered).toBe('queued');
  const capped = await written({}, visitor);
  expect(capped.answered).toBe('not_sent');
  for (const { said, known } of [fifth, capped]) {
    const settled = await allSettled(said);
    expect(settled).toEqual([settled[0], 'sent', 'not_sent', 'sent', 'sent', 'sent']);
    expect(await known()).toEqual(settled);
  }
  expect([(await fifth.said())[0], (await capped.said())[0]]).toEqual(['sent', 'not_sent']);
});

test('what was never e-mailed about has no value', async () => {
  const owner = await fixture.newCaller();
  const form = await forming.newForm(owner);
  expect(form.mail).toBeNull();
  const { site } = await ask.newBookable(undefined, owner);
  const start = `${ask.dateIn(6)}T12:00:00Z`;
  for (const more of [
    { kind: 'booking', service: 'talk', start },
    { kind: 'block', start: `${ask.dateIn(7)}T12:00:00Z`, end: `${ask.dateIn(7)}T13:00:00Z` },
  ]) {
    const { body } = await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body: { calendar: 'room', ...more } });
    expect(body).toMatchObject({ kind: more.kind, mail: null });
  }
  // A cancellation that the visitor did not ask to hear of.
  const { owner: host, id, said } = await written();
  await allSettled(said);
  expect((await host.call('POST', `/v1/bookings/${id}/cancel`)).body).toMatchObject({
    status: 'cancelled',
    mail: null,
  });
});

test('on a platform without e-mail every value is null', async () => {
  const silent = await createFixture(challengeEnv);
  try {
    const [there, forming] = [bookings(silent), forms(silent)];
    const { owner, publicId, site } = await there.newBookable();
    const start = (await there.slots(publicId, there.dateIn(5)))[0]?.start ?? '';
    expect((await there.book(publicId, start)).body).toMatchObject({ status: 'confirmed', mail: null, notice: null });
    const form = await forming.newForm(owner, { acknowledge: { text: 'Thank you.' } }, { ...site, address: '' });
    const sent = await forming.send(form.id);
    const { body } = await owner.call('GET', `/v1/submissions/${sent.body.id}`);
    expect([body.mail, body.acknowledgement]).toEqual([null, null]);
    expect((await owner.call('GET', `/v1/forms/${form.id}`)).body.mail).toBeNull();
  } finally {
    await silent.close();
  }
});

test('an e-mail that is withdrawn while being sent is sent', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const to = 'withdrawn@example.org';
  const { promise: received, resolve: receive } = Promise.withResolvers<void>();
  const { promise: isWithdrawn, resolve: withdraw } = Promise.withResolvers<void>();
  whileReceiving.set(to, () => {
    receive();
    return isWithdrawn;
  });
  const { id } = (await ask.invite(owner, site.id, to)).body;
  await received;
  expect((await ask.withdraw(owner, site.id, id)).body.mail).toBe('not_sent');
  withdraw();
  const { em } = fixture.deps;
  const mail = async () => {
    const [row] = await em().execute<{ status: string; failure: string | null }[]>(
      'select m.status, m.failure from mail m join invitation i on i.mail_id = m.id where i.id = ?',
      [id],
    );
    return row;
  };
  expect(await until(mail, (row) => row?.status === 'sent', waitsMostMs)).toEqual({ status: 'sent', failure: null });
  expect(fixture.mailsTo(to)).toHaveLength(1);
});
