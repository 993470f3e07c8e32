/** The front door: what this is, how to sign in, how to connect an agent. */
import { readFileSync } from 'node:fs';
import { copyableScript, copyableStyle } from '#web/copyable.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { illustration } from '#web/pages/illustration.ts';
import { type ConnectionGuide, connectionGuide, guideStyle } from './connection-guide.ts';

const style = readFileSync(new URL('./front.css', import.meta.url), 'utf8');

export type FrontPage = ConnectionGuide & {
  isSignedIn: boolean;
  /** Whether signing in opens an account for an address that has none. */
  opensAccounts: boolean;
  /** What this installation offers besides websites. */
  offers: Record<'forms' | 'bookings' | 'payouts' | 'domains' | 'previews', boolean>;
};

export function frontPage(page: FrontPage): WrittenPage {
  const door = doorOf(page);
  return writePage({
    title: 'Frontage: a website that your agent runs for you',
    layout: 'dashboard',
    style: `${style}${guideStyle}${copyableStyle}`,
    script: copyableScript,
    isFindable: true,
    home: '/',
    bar: html`<nav><a href="/docs">Docs</a>${door ? html`<a href="${door.href}">${door.text}</a>` : null}</nav>`,
    main: html`<div class="hero">
${illustration(true)}
<h1>A website that your agent runs for you</h1>
<p class="lead">Tell your AI agent what you need. It designs, builds and publishes the website. You look at each draft, and you can undo every change.</p>
<p class="buttons"><a class="button" href="#connect">Connect your agent</a>${door ? html`<a class="button quiet" href="${door.href}">${door.text}</a>` : null}</p>
</div>
<section>
<h2>What you get</h2>
<ul class="gains">${gains(page.offers).map(([title, text]) => html`<li><strong>${title}</strong>${text}</li>`)}</ul>
</section>
<section id="connect">
<h2>Connect your agent</h2>
<p class="lead">${connectionLead(page)}</p>
${connectionGuide(page)}
</section>
<section>
<h2>For agents and developers</h2>
<p>Agents start with <a href="/llms.txt">llms.txt</a>, which leads to the guide, the tools and the API. People can read <a href="/docs">the documentation</a>.</p>
</section>`,
  });
}

function doorOf({ connects, isSignedIn }: FrontPage): { href: string; text: string } | null {
  if (!connects) return null;
  return isSignedIn ? { href: '/account', text: 'Your account' } : { href: '/signin', text: 'Sign in' };
}

function connectionLead({ connects, opensAccounts }: FrontPage): string {
  if (!connects) return 'The person who runs this service gives you a token for your agent.';
  const account = opensAccounts ? 'You don’t need an account first: it opens when you sign in.' : '';
  return `Choose what you use. ${account}`.trim();
}

type Gain = [title: string, text: string];

function gains({ forms, bookings, payouts, domains, previews }: FrontPage['offers']): Gain[] {
  const more = [forms && 'a contact form', bookings && 'bookings', payouts && 'payments'].filter(
    (one) => one !== false,
  );
  const all: (Gain | false)[] = [
    ['A website in minutes', 'Start from a template, or let your agent design one for you.'],
    ['Nothing is lost', 'Every published version is kept. Restore an earlier one in seconds.'],
    previews && ['You decide', 'Look at a draft on your phone, and comment on the page itself.'],
    more.length > 0 && ['More than pages', `Add ${listed(more)}. You need no other service for it.`],
    domains && ['Your own address', 'Use a domain that you own. Its certificate is renewed for you.'],
    ['It stays yours', 'The website is plain files in git. Take it with you whenever you like.'],
  ];
  return all.filter((gain) => gain !== false);
}

const listed = (words: string[]): string => new Intl.ListFormat('en').format(words);
