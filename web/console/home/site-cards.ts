/** A card for each site: its address, what is live, a week of visits, and what waits on it. */
import { cardPicture } from '#rules/looks.ts';
import { hostOf, since } from '#web/console/parts.ts';
import { sitePath } from '#web/console/tabs.ts';
import { visitorsPath } from '#web/console/visitors.ts';
import { type Html, html } from '#web/html.ts';
import { day } from '#web/times.ts';

export type SiteCard = {
  id: string;
  title: string;
  address: string;
  /** The path of a picture of its home page; null if there is none. */
  picture: string | null;
  archived: boolean;
  /** When it is deleted for good, and the page that restores it; null if it is not being deleted. */
  deletion: { at: Date; restore: string } | null;
  /** Why the operator has blocked it. */
  blocked: string | null;
  /** Null if nothing is published. */
  live: { since: Date; by: string; isRestored: boolean } | null;
  /** Page views by day, oldest first; the last is today. */
  visits: { at: Date; views: number }[];
  openComments: number;
  /** Messages of the last seven days. */
  enquiries: number;
  /** Bookings of the next seven days; of an archived site, all that are to come. */
  bookings: number;
  role: 'owner' | 'collaborator';
};

export function siteList(sites: readonly SiteCard[], now: Date): Html {
  if (sites.length === 0) {
    return html`<div class="panel empty-home"><p class="big">No sites yet</p>
<p>Connect an agent, such as Claude or ChatGPT. Then ask it to make your first site.</p>
<p><a class="button" href="/account/agents/connect">Connect an agent</a></p></div>`;
  }
  const arePictured = sites.some(({ picture }) => picture !== null);
  return html`<ul class="cards">${sites.map((site) => (site.deletion ? deletionCard(site, site.deletion) : card(site, now, arePictured)))}</ul>`;
}

function deletionCard({ title, address }: SiteCard, { at, restore }: { at: Date; restore: string }): Html {
  return html`<li class="panel"><div><h3>${title}</h3><p class="hint">${hostOf(address)}</p></div>
<p>Will be deleted on ${day(at)} · <a href="${restore}">Restore</a></p></li>`;
}

function card(site: SiteCard, now: Date, arePictured: boolean): Html {
  const { id, title, address, blocked, role } = site;
  return html`<li class="panel">${arePictured ? picture(site) : null}<div${arePictured ? null : html` class="card-head"`}>${arePictured ? null : tile(site)}<div><h3><a href="${sitePath(id)}">${title}</a></h3>
<p class="hint"><a href="${address}" rel="noopener noreferrer">${hostOf(address)}</a></p>
<p class="hint">${stateOf(site, now)}${role === 'collaborator' ? html` · collaborator · <a href="/account/sites/${id}/leave">Leave</a>` : null}</p></div></div>
${blocked === null ? null : html`<p class="fault">Blocked by the operator of this service: ${blocked}</p>`}
${weekChart(site)}
${countList(site)}</li>`;
}

/** The home page; the title follows it, so it has no words. Where others have one, a site without it has a tile as large. */
function picture(site: SiteCard): Html {
  const { width, height } = cardPicture;
  if (site.picture === null) return tile(site, { width, height });
  return html`<img class="shot" src="${site.picture}" alt="" loading="lazy" width="${width}" height="${height}">`;
}

/** In place of a picture: the first letter of the title, on a colour that the site keeps. */
function tile({ id, title }: SiteCard, { width, height } = { width: 48, height: 48 }): Html {
  const [letter = ''] = title.toUpperCase();
  const color = [...id].reduce((sum, one) => sum + one.charCodeAt(0), 0) % 5;
  const [isLarge, box] = [width > 48, `0 0 ${width} ${height}`];
  return html`<svg class="tile tile-${color}${isLarge ? ' shot' : ''}" viewBox="${box}" width="${width}" height="${height}" aria-hidden="true"><rect width="${width}" height="${height}" rx="${isLarge ? 0 : 12}"/><text x="${width / 2}" y="${height / 2 + (isLarge ? 32 : 8)}" text-anchor="middle">${letter}</text></svg>`;
}

/** What there is of each kind; none are left out. */
function countList({ id, openComments, enquiries, bookings, archived }: SiteCard): Html | null {
  const rows = [
    { n: openComments, words: counted(openComments, 'open comment'), path: sitePath(id, 'comments'), when: '' },
    {
      n: enquiries,
      words: counted(enquiries, 'message'),
      path: sitePath(id, 'messages'),
      when: ' in the last 7 days',
    },
    {
      n: bookings,
      words: counted(bookings, 'booking'),
      path: sitePath(id, 'bookings'),
      when: archived ? ' still to come' : ' in the next 7 days',
    },
  ].filter(({ n }) => n > 0);
  if (rows.length === 0) return null;
  return html`<ul class="counts">${rows.map(({ words, path, when }) => html`<li><a href="${path}">${words}</a>${when}</li>`)}</ul>`;
}

function stateOf({ live, archived }: SiteCard, now: Date): Html | string {
  if (archived) return 'Archived: visitors see that the site is closed';
  if (!live) return 'Not published yet';
  return html`Live since ${since(live.since, now)}, ${live.isRestored ? 'restored' : 'published'} by ${live.by}`;
}

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });

/** Bars of a week. The text alternative has each number, and the sum is written below. */
function weekChart({ id, visits, live }: SiteCard): Html | null {
  const most = Math.max(1, ...visits.map(({ views }) => views));
  const sum = visits.reduce((all, { views }) => all + views, 0);
  if (sum === 0)
    return live ? html`<p class="hint"><a href="${visitorsPath(id, 7)}">No visits</a> in the last 7 days</p>` : null;
  const height = 36;
  const bars = visits.map(({ views }, index) => {
    const tall = views > 0 ? Math.max(2, (views / most) * height) : 1;
    return html`<rect x="${index * 20 + 2}" y="${(height - tall).toFixed(1)}" width="16" height="${tall.toFixed(1)}" rx="1.5"/>`;
  });
  const words = visits.map(({ at, views }) => `${weekday.format(at)} ${views}`).join(', ');
  return html`<figure class="chart week-chart"><svg viewBox="0 0 ${visits.length * 20} ${height + 1}" role="img" aria-label="Page views by day: ${words}" preserveAspectRatio="none"><path class="base" d="M0 ${height + 0.5}H${visits.length * 20}"/>${bars}</svg>
<figcaption><a href="${visitorsPath(id, 7)}">${counted(sum, 'page view')}</a><span>last 7 days</span></figcaption></figure>`;
}

const number = new Intl.NumberFormat('en');
const counted = (n: number, one: string, many = `${one}s`) => `${number.format(n)} ${n === 1 ? one : many}`;
