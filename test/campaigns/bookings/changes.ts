/** What a site's owner does to bookings while others book: moves, cancellations and closed links; and visitors who cancel with their link. */
import pLimit from 'p-limit';
import { expect } from 'vitest';
import { type Answer, type Caller, errorOf } from '#test/api/fixture.ts';
import type { PayingFixture } from '#test/payments/fixture.ts';
import { newBrowser } from '#test/people/browser.ts';
import { retriedCall } from '#test/requests/retried-call.ts';
import type { CaughtMail } from '#tools/local/mail/mailbox.ts';
import { addressOf } from './orders.ts';

export type Place = { start: string; calendar: string };
type Row = { id: string; status: string; payment_id: string | null; visitor_name: string };
type World = {
  fixture: PayingFixture;
  owner: Caller;
  siteId: string;
  urls: string[];
  starts: string[];
  calendars: string[];
  messages(to: string): CaughtMail[];
};

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

export type Changes = ReturnType<typeof openChanges>;

/** So many changes are made at once, each of another booking. */
const atOnce = 8;

export function openChanges({ fixture, owner, siteId, urls, starts, calendars, messages }: World) {
  const call = retriedCall(() => pick(urls), owner.token);
  const moved = new Map<string, Place>();
  const cancelled = new Set<string>();
  const counts: Record<string, number> = {};
  const note = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const limit = pLimit(atOnce);
  const changes: Promise<void>[] = [];
  const busy = new Set<string>();

  /** Changes any booking in one of these states, besides the holds of the campaign itself and those that are being changed. */
  async function ofAny(statuses: string[], change: (booking: Row) => Promise<void>): Promise<void> {
    const rows = await fixture.deps.em().execute<Row[]>(
      `select id, status, payment_id, visitor_name from booking
       where site_id = ? and status = any(?) and visitor_name <> 'H' order by random() limit ${atOnce}`,
      [siteId, `{${statuses.join(',')}}`],
    );
    const booking = rows.find(({ id }) => !busy.has(id));
    if (!booking) return note('nothing to change');
    busy.add(booking.id);
    await change(booking).finally(() => busy.delete(booking.id));
  }

  /** Notes a refusal, which has to be one of these. */
  function refused(act: string, answer: Answer, ...codes: string[]): void {
    const { code } = errorOf(answer);
    expect(codes, `${act}: ${answer.text}`).toContain(code);
    note(`${act}: ${code}`);
  }

  async function move(booking: Row): Promise<void> {
    const place = { start: pick(starts), calendar: pick(calendars) };
    const answer = await call('POST', `/v1/bookings/${booking.id}/move`, { body: place });
    if (answer.status !== 200) return refused('move', answer, 'slot_taken', 'not_cancellable');
    moved.set(booking.id, place);
    note('moves');
  }

  /** Now and then by two calls at once. One cancels; the other may have to be sent again because its process died, and then finds it done. */
  async function cancel(booking: Row): Promise<void> {
    const calls = Array.from({ length: Math.random() < 0.3 ? 2 : 1 }, () =>
      call('POST', `/v1/bookings/${booking.id}/cancel`),
    );
    const answers = await Promise.all(calls);
    const done = answers.filter(({ status }) => status === 200);
    for (const answer of answers) if (answer.status !== 200) refused('cancel', answer, 'not_cancellable');
    if (done.length === 0) return;
    cancelled.add(booking.id);
    note(done[0]?.body.refund ? 'cancellations with money back' : 'cancellations');
  }

  /** The visitor opens the link of the confirmation, and presses the button until the page says what became of it. */
  async function cancelByLink(booking: Row): Promise<void> {
    const texts = messages(addressOf(booking.visitor_name)).map(({ text }) => text);
    const link = texts.map((text) => /http\S+\/cancel\/\S+/.exec(text)?.[0]).find(Boolean);
    if (!link) return note('no link yet');
    const { pathname } = new URL(link);
    for (let tries = 0; tries < 200; tries++) {
      const browser = newBrowser(pick(urls));
      const page = await browser.open(pathname).catch(() => undefined);
      const isOver = page?.status === 410;
      const done = isOver ? page : page && (await browser.press(page, 'Cancel the booking').catch(() => undefined));
      if (!done || done.status >= 500) continue;
      expect(done.text).toMatch(/(Your|This) booking is cancelled/);
      cancelled.add(booking.id);
      return note('cancellations by link');
    }
    throw new Error(`the link of ${booking.id} leads nowhere`);
  }

  /** Closes the payment link of a hold, which ends with it unless its visitor is faster. */
  async function closeLink(booking: Row): Promise<void> {
    const answer = await call('POST', `/v1/payments/${booking.payment_id}/expire`, {
      headers: { prefer: 'respond-async' },
    });
    expect(answer.status, answer.text).toBe(200);
    note('links closed');
  }

  const live = ['confirmed', 'held'];
  const acts = [
    () => ofAny(live, move),
    () => ofAny(live, cancel),
    () => ofAny(['confirmed'], cancelByLink),
    () => ofAny(['held'], closeLink),
  ];
  const drawn = [0, 0, 0, 1, 1, 1, 2, 3];
  return {
    moved,
    cancelled,
    counts,
    call,
    /** Makes one more change, as soon as fewer are under way. */
    next(): void {
      const change = limit(acts[pick(drawn)] as () => Promise<void>);
      change.catch(() => {});
      changes.push(change);
    },
    /** When those under way are made; the others are dropped. Fails if one failed. */
    async done(): Promise<void> {
      const dropped = limit.pendingCount;
      limit.clearQueue();
      await Promise.all(changes.slice(0, changes.length - dropped));
    },
  };
}
