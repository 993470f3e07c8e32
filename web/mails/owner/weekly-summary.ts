import { type Block, type WrittenMail, write } from '#web/mails/layout.ts';
import { day } from '#web/times.ts';

/** What happened on one website. Open comments are those at the end of the week. */
export type SiteWeek = {
  hostname: string;
  /** A visitor counts once per day. */
  visits: number;
  enquiries: number;
  bookings: number;
  payments: number;
  /** Formatted, one for each currency. */
  paid: string[];
  openComments: number;
  publishes: number;
};

export type WeeklySummary = {
  /** RFC 3339: the first moment of the week, and of its last day, in UTC. */
  firstDay: string;
  lastDay: string;
  /** Those on which something happened, the most visited first. */
  sites: SiteWeek[];
  /** Of such sites, how many are not listed. */
  unlisted: number;
  /** The page where the owner chooses their e-mails; null where owners cannot sign in. */
  choices: string | null;
};

/** To the owner who asked for it, on Monday. */
export function weeklySummary({ firstDay, lastDay, sites, unlisted, choices }: WeeklySummary): WrittenMail {
  const days = `${day(new Date(firstDay))} to ${day(new Date(lastDay))}`;
  const [only] = sites.length === 1 && unlisted === 0 ? sites : [];
  return write({
    subject: `Your week: ${headline(sites)}`,
    ...(only ? { hostname: only.hostname } : {}),
    preview: days,
    heading: only ? 'Your website last week' : 'Your websites last week',
    blocks: [
      `From ${days} (UTC):`,
      ...sites.flatMap((site) => siteBlocks(site, !only)),
      ...(unlisted > 0
        ? [`And ${unlisted} more ${unlisted === 1 ? 'website' : 'websites'}. Ask your agent about them.`]
        : []),
    ],
    footer:
      'You are receiving this e-mail because you asked for a summary of the week. There is none for a week in which nothing happened.',
    choices,
  });
}

const counted = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

/** What an owner asks first: visits, and what visitors left. */
function headline(sites: readonly SiteWeek[]): string {
  const sum = (of: 'visits' | 'enquiries' | 'bookings') => sites.reduce((total, site) => total + site[of], 0);
  return [
    counted(sum('visits'), 'visit'),
    ...(sum('enquiries') > 0 ? [counted(sum('enquiries'), 'message')] : []),
    ...(sum('bookings') > 0 ? [counted(sum('bookings'), 'booking')] : []),
  ].join(', ');
}

function siteBlocks(site: SiteWeek, isNamed: boolean): Block[] {
  const rows: [label: string, count: number, text?: string][] = [
    ['Messages', site.enquiries],
    ['Bookings', site.bookings],
    ['Payments', site.payments, `${site.payments} (${site.paid.join(', ')})`],
    ['Published', site.publishes, counted(site.publishes, 'time')],
    ['Open comments', site.openComments],
  ];
  const happened = rows.filter(([, count]) => count > 0);
  const facts = [
    ['Visits', String(site.visits)],
    ...happened.map(([label, count, text]) => [label, text ?? String(count)]),
  ];
  return [...(isNamed ? [site.hostname] : []), { facts: facts as [string, string][] }];
}
