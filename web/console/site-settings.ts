/** The settings of a site: title and address, notifications, forms, links for others, export, archive, deletion. */
import { counted } from '#rules/counted.ts';
import { deletionDelay, formerNameMs, period } from '#rules/periods.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { day, relative } from '#web/times.ts';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import type { FormShown } from './messages.ts';
import { button, shownOnce } from './parts.ts';
import { sitePath } from './tabs.ts';

/** A link, as the API answers it. */
export type LinkShown = {
  id: string;
  status: 'open' | 'full' | 'expired' | 'ended';
  created_at: string;
  expires_at: string;
};
export type UploadLinkShown = LinkShown & { max_files: number; files_left: number };
export type ReviewLinkShown = LinkShown & { slot: number | null };

/** Who gets the e-mails, as the API answers it. */
type NotifyShown = { notify_to: string; notify_options: readonly string[] };

export type SiteSettingsView = {
  name: string;
  baseDomain: string;
  formerHostnames: readonly { hostname: string; redirects_until: string }[];
  forms: readonly (FormShown & NotifyShown)[];
  /** Null if the site accepts no bookings. */
  bookings: NotifyShown | null;
  uploads: readonly UploadLinkShown[];
  reviews: readonly ReviewLinkShown[];
  /** Previews that can be reviewed. */
  slots: readonly number[];
};

export function siteSettingsPage(frame: SiteFrame, view: SiteSettingsView): WrittenPage {
  const { role, archived } = frame.site;
  const isOwner = role === 'owner';
  const main = html`<h1>Settings</h1>
${
  archived
    ? html`<p class="hint">The site is archived. Put it online to change it.</p>`
    : html`${titleForm(frame)}
${isOwner ? nameForm(frame, view) : null}
${view.forms.length > 0 ? formSection(frame, view) : null}
${view.bookings ? bookingSection(frame, view.bookings) : null}
${linkSections(frame, view)}`
}
${isOwner ? ownerSection(frame) : null}`;
  return sitePage(frame, 'settings', { title: 'Settings', main });
}

function titleForm(frame: SiteFrame): Html {
  const action = `${sitePath(frame.site.id, 'settings')}/title`;
  const field = fieldsOf(frame, action);
  return html`<section><h2>Title</h2><div class="panel">
${frame.form({ action }, html`${field({ name: 'title', label: 'Title of the site', value: frame.site.title, required: true, max: 120, hint: 'It is used in e-mails and on your booking page.' })}<button class="quiet">Save the title</button>`)}
</div></section>`;
}

function nameForm(frame: SiteFrame, { name, baseDomain, formerHostnames }: SiteSettingsView): Html {
  const action = `${sitePath(frame.site.id, 'settings')}/name`;
  const field = fieldsOf(frame, action);
  const former = formerHostnames.map(
    ({ hostname, redirects_until: until }) => html`<li>${hostname} redirects here until ${day(new Date(until))}</li>`,
  );
  return html`<section><h2>Address</h2><div class="panel">
<p class="hint">If you change it, the old address redirects to the new one for ${period(formerNameMs)}. Publish the site afterwards, so that its pages name the new address. Your own domains stay as they are.</p>
${former.length > 0 ? html`<ul class="hint">${former}</ul>` : null}
${frame.form({ action }, html`${field({ name: 'name', label: `Name, before .${baseDomain}`, value: name, required: true, max: 40, autocomplete: 'off' })}<button class="quiet">Change the address</button>`)}
</div></section>`;
}

function formSection(frame: SiteFrame, { forms }: SiteSettingsView): Html {
  return html`<section id="forms"><h2>Forms</h2>
<ul class="rows">${forms.map((one) => formRow(frame, one))}</ul></section>`;
}

function formRow(frame: SiteFrame, { id, name, status, ...notify }: SiteSettingsView['forms'][number]): Html {
  const base = `${sitePath(frame.site.id, 'settings')}/forms/${id}`;
  const isOn = status === 'enabled';
  return html`<li><div><strong>${name}</strong><small>${isOn ? html`On · e-mails go to ${notify.notify_to}` : 'Off: visitors cannot send anything'}</small>${notifyForm(frame, `${base}/notify`, notify)}</div>
${button(frame.form, `${base}/${isOn ? 'disable' : 'enable'}`, isOn ? 'Switch off' : 'Switch on')}</li>`;
}

function bookingSection(frame: SiteFrame, notify: NotifyShown): Html {
  const action = `${sitePath(frame.site.id, 'settings')}/bookings/notify`;
  return html`<section id="bookings"><h2>Bookings</h2>
<ul class="rows"><li><div><strong>E-mails about bookings</strong><small>They go to ${notify.notify_to}</small>${notifyForm(frame, action, notify)}</div></li></ul></section>`;
}

/** Nothing where there is only one address. */
function notifyForm(frame: SiteFrame, action: string, { notify_to, notify_options }: NotifyShown): Html | null {
  if (notify_options.length < 2) return null;
  const options = notify_options.map((one) => [one, one] as const);
  const field = fieldsOf(frame, action);
  return frame.form(
    { action, inline: true },
    html`${field({ name: 'notify_to', label: 'E-mails go to', options, value: notify_to })}<button class="quiet small">Save</button>`,
  );
}

function linkSections(frame: SiteFrame, { uploads, reviews, slots }: SiteSettingsView): Html {
  const base = sitePath(frame.site.id, 'settings');
  const open = uploads.filter(({ status }) => status === 'open' || status === 'full');
  const field = fieldsOf(frame, `${base}/uploads`);
  const row = (frame: SiteFrame, link: LinkShown, { path, words }: { path: string; words: string }) =>
    html`<li><div><strong>${words}</strong><small>Created ${relative(new Date(link.created_at), frame.now)} · expires ${relative(new Date(link.expires_at), frame.now)}</small></div><a class="button quiet small" href="${path}">Close</a></li>`;
  return html`<section id="uploads"><h2>Upload links</h2>
<p class="hint">With this link, somebody without an account can send photos for this site. It works for a week.</p>
${open.length > 0 ? html`<ul class="rows">${open.map((link) => row(frame, link, { path: `${base}/uploads/${link.id}/end`, words: link.status === 'full' ? `Full: ${link.max_files} photos received` : `${link.max_files - link.files_left} of ${link.max_files} photos received` }))}</ul>` : null}
<div class="panel">${frame.form({ action: `${base}/uploads` }, html`${field({ name: 'max_files', label: 'How many photos', type: 'number', value: '10', required: true })}<button class="quiet">Create an upload link</button>`)}</div>
</section>
<section id="reviews"><h2>Review links</h2>
<p class="hint">With this link, somebody without an account can comment on the site. It works for a week.</p>
${reviews.some(({ status }) => status === 'open') ? html`<ul class="rows">${reviews.filter(({ status }) => status === 'open').map((link) => row(frame, link, { path: `${base}/reviews/${link.id}/end`, words: link.slot === null ? 'For the live site' : `For preview ${link.slot}` }))}</ul>` : null}
${newReview(frame, slots)}
</section>`;
}

/** Without previews, there is nothing to choose. */
function newReview(frame: SiteFrame, slots: readonly number[]): Html {
  const action = `${sitePath(frame.site.id, 'settings')}/reviews`;
  if (slots.length === 0) return html`<div class="actions">${button(frame.form, action, 'Create a review link')}</div>`;
  const options = [['', 'The live site'], ...slots.map((slot) => [String(slot), `Preview ${slot}`])] as [
    string,
    string,
  ][];
  return html`<div class="panel">${frame.form({ action }, html`${fieldsOf(frame, action)({ name: 'slot', label: 'What to comment on', options })}<button class="quiet">Create a review link</button>`)}</div>`;
}

function ownerSection({ form, site }: SiteFrame): Html {
  const base = sitePath(site.id, 'settings');
  return html`<section><h2>Export</h2>
<p class="hint">One file with everything: pages, posts, photos, forms, messages and bookings. It can be imported on any Frontage service.</p>
<div class="actions"><a class="button quiet small" href="${base}/export" download>Download the site</a> <a class="button quiet small" href="${base}/export?visitors=false" download>Download without messages and bookings</a></div>
</section>
<section><h2>${site.archived ? 'Archived' : 'Archive'}</h2>
<p class="hint">${site.archived ? 'Visitors see that the site is closed. You can put it online again, or delete it.' : 'Archiving takes the site offline. It keeps its address and everything else, and you can put it online again. To delete the site, archive it first.'}</p>
<div class="actions">${site.archived ? html`${button(form, `${base}/unarchive`, 'Put it online', { quiet: false })}<a class="button quiet small" href="${base}/delete">Delete the site</a>` : html`<a class="button quiet small" href="${base}/archive">Archive the site</a>`}</div>
</section>`;
}

/** What there is on the site when it is archived. `bookings`: those to come; `links`: payment links that can be paid. */
export type ArchiveView = Record<'bookings' | 'paidBookings' | 'held' | 'links' | 'forms', number>;

export function archivePage(frame: SiteFrame, view: ArchiveView): WrittenPage {
  const base = sitePath(frame.site.id, 'settings');
  const asked = {
    title: `Archive ${frame.site.title}?`,
    facts: html`<ul>${archiveEffects(view).map((effect) => html`<li>${effect}</li>`)}</ul>`,
    text: 'Nothing is deleted, and you can put the site online again at any time.',
    action: `${base}/archive`,
    button: 'Archive the site',
    back: base,
  };
  return siteQuestion(frame, 'settings', asked);
}

function archiveEffects({ bookings, paidBookings, held, links, forms }: ArchiveView): string[] {
  const paid = paidBookings > 0 ? ` (${paidBookings} of them paid)` : '';
  return [
    'Visitors see that the site is closed, and cannot book.',
    'Running builds stop, and review links end.',
    ...(forms > 0 ? ['Forms can no longer be sent. Messages that have arrived stay here.'] : []),
    ...(bookings > 0
      ? [
          `${counted(bookings, 'future booking')}${paid} ${bookings === 1 ? 'stays' : 'stay'} valid, and the visitors are not notified that the site is closed. Cancel the bookings that do not take place: this refunds what was paid.`,
        ]
      : []),
    ...(held > 0
      ? [`${counted(held, 'booking')} that ${held === 1 ? 'is' : 'are'} not paid yet ${held === 1 ? 'ends' : 'end'}.`]
      : []),
    ...(links > 0
      ? [
          `${counted(links, 'payment link')} cannot be paid while the site is archived. Payments that were made stay here.`,
        ]
      : []),
  ];
}

/** A link that was just created, which is shown once. */
export function newLinkPage(
  frame: SiteFrame,
  { title, hint, url }: { title: string; hint: string; url: string },
): WrittenPage {
  const main = html`<h1>${title}</h1>${shownOnce('Copy it now', url, hint)}
<p><a href="${sitePath(frame.site.id, 'settings')}">Back to the settings</a></p>`;
  return sitePage(frame, 'settings', { title, main, copies: true });
}

/** `kind`: as in the path. */
export function linkEndPage(frame: SiteFrame, { kind, id }: { kind: 'uploads' | 'reviews'; id: string }): WrittenPage {
  const base = sitePath(frame.site.id, 'settings');
  const asked = {
    title: kind === 'uploads' ? 'Close this upload link?' : 'Close this review link?',
    text:
      kind === 'uploads'
        ? 'Nobody will be able to send photos with it. Photos that have arrived stay. You cannot undo this, but you can create a new link.'
        : 'Nobody will be able to comment with it. The comments stay. You cannot undo this, but you can create a new link.',
    action: `${base}/${kind}/${id}/end`,
    button: 'Close the link',
    back: base,
  };
  return siteQuestion(frame, 'settings', asked);
}

/** `open`: what is still open on the site, as the API says it; null if nothing is. */
export function siteDeletionPage(frame: SiteFrame, open: string | null): WrittenPage {
  const base = sitePath(frame.site.id, 'settings');
  const asked = {
    title: `Delete ${frame.site.title}?`,
    text: html`You can restore it for ${deletionDelay}. After that, its pages, photos, messages and comments are deleted for good. Your domains stay in your account, and records of payments and bookings are kept.${open === null ? null : html`<br><strong>${open}</strong>`}`,
    action: `${base}/delete`,
    hidden: open === null ? {} : { discard: 'yes' },
    button: open === null ? 'Delete the site' : 'Delete it anyway',
    back: base,
  };
  return siteQuestion(frame, 'settings', asked);
}
