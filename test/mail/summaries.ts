/** Owners who want the weekly summary of their sites, and what happened on these. */
import { Mail } from '#db/mail/mail.ts';
import { dayMs, hourMs } from '#rules/time.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { people } from '#test/invitations/fixture.ts';
import { until } from '#test/stack/until.ts';
import type { MailFixture } from './fixture.ts';
import { queuedMails } from './owner-mails.ts';

const kind = 'weekly-summary';
/** Pages, referrers, countries and devices. */
export const noParts = `'{}', '{}', '{}', '{}'`;

export type Summaries = ReturnType<typeof summaries>;

export function summaries(fixture: MailFixture) {
  /** Moves the clock to the next Monday, at this hour in UTC. Returns the days of the week before. */
  function skipToMonday(hour: number): { from: Date; days: Date[] } {
    const now = fixture.clock.now();
    const midnight = Math.floor(now.getTime() / dayMs) * dayMs;
    const daysAhead = ((8 - now.getUTCDay()) % 7) + (now.getUTCDay() === 1 ? 7 : 0);
    const monday = midnight + daysAhead * dayMs;
    fixture.skip(monday + hour * hourMs - now.getTime());
    const days = Array.from({ length: 7 }, (_, n) => new Date(monday - (7 - n) * dayMs));
    return { from: days[0] as Date, days };
  }

  /** An owner who wants the summary, with as many sites. */
  async function summarised(sites = 1) {
    const ask = people(fixture);
    const owner = await fixture.newCaller();
    await fixture.deps
      .em()
      .execute(`update account set mail_choices = '{"summary": true}' where id = ?`, [owner.accountId]);
    const made = [];
    for (let n = 0; n < sites; n += 1) made.push(await ask.newSite(owner));
    const email = await ask.emailOf(owner);
    return {
      owner,
      sites: made,
      hostnames: made.map(({ name }) => siteHostname(fixture.config, name)),
      email,
      queued: () => queuedMails(fixture, kind, { accountId: owner.accountId }),
      status: async () =>
        (await fixture.deps.em().find(Mail, { kind, accountId: owner.accountId })).map(({ status }) => status),
      received: async () => {
        const summaries = () => fixture.mailsTo(email).filter(({ subject }) => subject.includes('Your week'));
        return (await until(summaries, ({ length }) => length > 0))[0];
      },
    };
  }

  const visitedOnDay = (siteId: string, day: Date, visitors: number) =>
    fixture.deps.em().execute(
      `insert into view_total (site_id, unit, start, views, visitors, pages, referrers, countries, devices)
       values (?, 'day', ?::date, 99, ?, ${noParts})`,
      [siteId, day.toISOString().slice(0, 10), visitors],
    );

  return { skipToMonday, summarised, visitedOnDay };
}
