/** The weekly summary, to owners who asked for it. */
import { dateText, later } from '#db/analytics/calendar.ts';
import { queueMail } from '#db/mail/queue.ts';
import { queueForEach } from '#db/mail/rounds.ts';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { mailChoicesPath, ownerPage } from '#runtime/owner-pages.ts';
import type { SiteWeek } from '#web/mails/owner/weekly-summary.ts';
import { siteWeeksOf } from './site-weeks.ts';
import { dueWeek, type Week } from './week.ts';

/** Accounts of one round; the next one continues. */
const roundMax = 200;
/** Sites that an e-mail lists. */
const listedMax = 20;

type Deps = { clock: Clock; config: Config };

/** The summary is off until its owner switches it on. Takes the Monday after the week. */
const isDue = `mail_choices @> '{"summary": true}' and blocked_at is null and delete_at is null
  and (summarised_week is null or summarised_week < ?::date)`;

/** Queues the summaries that are due, each once. Returns how many. */
export async function queueWeeklySummaries({ em, ...deps }: Deps & { em: () => EntityManager }): Promise<number> {
  const week = dueWeek(deps.clock.now());
  if (!deps.config.mail || !week) return 0;
  const accounts = await em().execute<{ id: string }[]>(
    `select id from account where ${isDue} order by random() limit ${roundMax}`,
    [dateText(week.until)],
  );
  return await queueForEach(accounts, async ({ id }) => {
    // The account is not locked while its sites are counted.
    const sites = await siteWeeksOf(em(), deps.config, id, week);
    return await em().transactional((tx) => queueSummary(tx, deps, id, { week, sites }));
  });
}

/** The week is marked in the transaction that queues the e-mail; a week without events is marked alone. */
async function queueSummary(
  tx: EntityManager,
  deps: Deps,
  accountId: string,
  { week, sites }: { week: Week; sites: SiteWeek[] },
): Promise<boolean> {
  const monday = dateText(week.until);
  const [account] = await tx.execute<{ email: string }[]>(
    `update account set summarised_week = ?::date where id = ? and ${isDue} returning email`,
    [monday, accountId, monday],
  );
  if (!account || sites.length === 0) return false;
  const data = {
    firstDay: week.from.toISOString(),
    lastDay: later(week.until, -dayMs).toISOString(),
    sites: sites.slice(0, listedMax),
    unlisted: Math.max(0, sites.length - listedMax),
    choices: ownerPage(deps.config, mailChoicesPath),
  };
  queueMail(tx, deps, { kind: 'weekly-summary', to: account.email, data, account: accountId });
  return true;
}
