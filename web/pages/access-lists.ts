/** Git passwords and calendar feeds on the account page. */
import { type Html, html } from '#web/html.ts';
import { day, relative } from '#web/times.ts';

export type GitPasswordsShown = {
  passwords: {
    id: string;
    hostname: string;
    repository: 'source' | 'content';
    access: 'read' | 'write';
    /** The token that made it, or the collaborator; null if unknown. */
    maker: string | null;
    createdAt: Date;
    lastUsedAt: Date | null;
    expiresAt: Date;
  }[];
  /** Number of those that are not shown. */
  more: number;
};

export function gitPasswordList({ passwords, more }: GitPasswordsShown, { now }: { now: Date }): Html {
  const rows = passwords.map(
    ({ id, hostname, repository, access, maker, createdAt, lastUsedAt, expiresAt }) => html`<li>
<div><strong>${hostname}</strong><small>${access === 'write' ? 'Can change' : 'Can read'} the ${repository === 'source' ? 'pages' : 'posts'}${maker ? ` · ${maker}` : ''} · since ${day(createdAt)} · ${lastUsedAt ? `last used ${relative(lastUsedAt, now)}` : 'never used'} · expires ${relative(expiresAt, now)}</small></div>
<a class="button quiet small" href="/account/git-credentials/${id}/revoke" aria-label="Revoke the git password of ${hostname}">Revoke</a>
</li>`,
  );
  return html`<section>
<h2>Git passwords</h2>
<p class="hint">With each of these, an agent or a program can read or change the files of one site. A git password also ends when the token that created it is revoked.</p>
<ul class="rows">${rows}</ul>
${more > 0 ? html`<p class="hint">${more} more expire sooner.</p>` : null}
</section>`;
}

export type CalendarFeedShown = {
  id: string;
  hostname: string;
  /** The collaborator who made it; null for the account itself. */
  maker: string | null;
  createdAt: Date;
  expiresAt: Date | null;
};

export function calendarFeedList(feeds: readonly CalendarFeedShown[], { now }: { now: Date }): Html {
  const rows = feeds.map(
    ({ id, hostname, maker, createdAt, expiresAt }) => html`<li>
<div><strong>${hostname}</strong><small>${maker ? `${maker} · ` : ''}since ${day(createdAt)}${expiresAt ? ` · expires ${relative(expiresAt, now)}` : ''}</small></div>
<a class="button quiet small" href="/account/calendar-feeds/${id}/revoke" aria-label="Revoke the calendar address of ${hostname}">Revoke</a>
</li>`,
  );
  return html`<section>
<h2>Calendar addresses</h2>
<p class="hint">Calendar programs read the bookings of a site from a secret address. Revoke an address that somebody else has got hold of.</p>
<ul class="rows">${rows}</ul>
</section>`;
}
