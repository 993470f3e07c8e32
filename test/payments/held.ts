/** Seats held until payment, and the mails about them. */
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, withText } from '#db/mail/queue.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { until } from '#test/stack/until.ts';
import { attachAccount, type PayingFixture } from './fixture.ts';

/** A hold of the one seat there is, on a site of its own. */
export async function heldIn(
  fixture: PayingFixture,
  { holdMinutes = 15, wishes = {}, price = { amount: 2500, currency: 'EUR' } } = {},
) {
  const service = { price, hold_minutes: holdMinutes };
  const made = await fixture.newBookable(timetable({ service }));
  const account = await attachAccount(fixture, made.owner, made.site.id, { currency: price.currency });
  const start = (await fixture.slots(made.publicId, fixture.dateIn(5)))[0]?.start ?? '';
  const visitor = { name: 'Ada Visitor', email: 'ada@example.org', ...wishes };
  const answer = await fixture.book(made.publicId, start, { visitor });
  if (answer.status !== 200) throw new Error(`not booked: ${answer.text}`);
  const { id, pay_url, payment_id } = answer.body;
  const read = async () => (await made.owner.call('GET', `/v1/bookings/${id}`)).body;
  return {
    ...made,
    account,
    start,
    id,
    booked: answer.body,
    payUrl: pay_url as string,
    paymentId: payment_id as string,
    read,
    statusOf: async () => (await read()).status,
    payment: fixture.reading(made.owner, payment_id),
    isOpen: async () => (await fixture.slots(made.publicId, start.slice(0, 10))).some((one) => one.start === start),
    bookAnother: () => fixture.book(made.publicId, start, { visitor: { name: 'Bob', email: 'bob@example.org' } }),
    /** Has the payment's workflow look now. */
    nudge: () => fixture.deps.temporal.workflow.getHandle(`payment:${payment_id}`).signal('moved'),
  };
}

/** The mails of the kind that wait about the booking: to whom, and what they say. */
export async function mailsWaiting(fixture: PayingFixture, kind: string, bookingId: string) {
  const mails = await fixture.deps.em().find(Mail, { kind, status: 'queued' } as never, withText);
  const letters = mails.flatMap(({ id, sealed }) =>
    sealed ? [decryptLetter({ id, sealed }, fixture.config.encryptionKeys)] : [],
  );
  return letters.filter(({ data }) => (data as { id: string }).id === bookingId);
}

/** The payment's workflow has heard all that was told to it, and waits: the next asking is seconds away, and none is under way. */
export async function atRest({ deps }: Pick<PayingFixture, 'deps'>, paymentId: string): Promise<void> {
  const workflowId = `payment:${paymentId}`;
  const untold = 'select 1 from outbox where workflow_id = ? and sent_at is null';
  const rests = async () => {
    if ((await deps.em().execute<unknown[]>(untold, [workflowId])).length > 0) return false;
    const { events } = await deps.temporal.workflow.getHandle(workflowId).fetchHistory();
    return events?.at(-1)?.timerStartedEventAttributes != null;
  };
  await until(rests, (isSo) => isSo);
}
