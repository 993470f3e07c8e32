/** Git passwords and calendar feeds on the account page. */
import { type Html, html } from '#web/html.ts';
import { exact, relative } from '#web/times.ts';

export type GitPassword = {
  id: string;
  hostname: string;
  /** The name that git sends with the password. */
  username: string;
  repository: 'source' | 'content';
  access: 'read' | 'write';
  /** The token that made it, or the collaborator; null if unknown. */
  maker: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date;
};
export type GitPasswordsShown = {
  passwords: readonly GitPassword[];
  /** Number of those that are not shown. */
  more: number;
};

export function gitPasswordList({ passwords, more }: GitPasswordsShown, { now }: { now: Date }): Html {
  const used = passwords.filter(({ lastUsedAt }) => lastUsedAt !== null);
  const unused = passwords.filter(({ lastUsedAt }) => lastUsedAt === null);
  const list = (some: readonly GitPassword[]) =>
    html`<ul class="rows">${some.map((one) => gitPasswordRow(one, now))}</ul>`;
  return html`<section>
<h2>Git passwords</h2>
<p class="hint">Git is the program with which agents copy the files of a site to a computer and back. Each of these passwords opens the files of one site, and ends when you revoke the agent that created it.</p>
${used.length > 0 ? list(used) : null}
${unused.length > 0 ? html`<details class="more"><summary>${unused.length === 1 ? '1 git password was never used' : `${unused.length} git passwords were never used`}</summary>${list(unused)}</details>` : null}
${more > 0 ? html`<p class="hint">${more} more expire sooner.</p>` : null}
</section>`;
}

function gitPasswordRow(password: GitPassword, now: Date): Html {
  const { id, hostname } = password;
  const [made, used] = gitPasswordWords(password, now);
  return html`<li>
<div><strong>${hostname}: ${reach(password)}</strong><small>${made}</small><small>${used}</small></div>
<a class="button quiet small" href="/account/git-credentials/${id}/revoke" aria-label="Revoke the git password ${endOf(password)} of ${hostname}">Revoke</a>
</li>`;
}

const reach = ({ access, repository }: GitPassword): string =>
  `${access === 'write' ? 'can change' : 'can read'} the ${repository === 'source' ? 'pages' : 'posts'}`;

/** User names are long and begin alike. */
const endOf = ({ username }: GitPassword): string => `…${username.slice(-6)}`;

/** What tells it from others: who made it and when, its user name, its last use and its end. */
export function gitPasswordWords(password: GitPassword, now: Date): readonly [made: string, used: string] {
  const { maker, createdAt, lastUsedAt, expiresAt } = password;
  return [
    `Created${maker === null ? '' : ` by ${maker}`} on ${exact(createdAt)} · user name ${endOf(password)}`,
    `${lastUsedAt ? `Last used ${relative(lastUsedAt, now)}` : 'Never used'} · expires ${relative(expiresAt, now)}`,
  ];
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
<div><strong>${hostname}</strong><small>Created${maker ? ` by ${maker}` : ''} on ${exact(createdAt)}${expiresAt ? ` · expires ${relative(expiresAt, now)}` : ''}</small></div>
<a class="button quiet small" href="/account/calendar-feeds/${id}/revoke" aria-label="Revoke the calendar address of ${hostname}">Revoke</a>
</li>`,
  );
  return html`<section>
<h2>Calendar addresses</h2>
<p class="hint">Calendar programs read the bookings of a site from a secret address. Revoke an address that somebody else has got hold of.</p>
<ul class="rows">${rows}</ul>
</section>`;
}
