/** What was really done, in a sentence for the site's people: the history's own sentences name all that an action can be. */
import { momentIn } from '#rules/bookings/written-times.ts';
import { written } from '#rules/currencies.ts';

type Detail = Readonly<Record<string, unknown>>;
type Sentence = (detail: Detail, name: string, about: About) => string | null;

/** What is known of its subject now: of a version its state, of a booking the time zone of its calendar. */
export type About = { status?: string; timeZone?: string };

const booked = (of: Record<'booking' | 'block', string>): Sentence => {
  return ({ kind, start }, _, { timeZone }) => {
    if (kind !== 'booking' && kind !== 'block') return null;
    const at = momentOf(start, timeZone);
    return at === null ? `${of[kind]}.` : `${of[kind]} for ${at}.`;
  };
};

const moved: Sentence = ({ kind, from, to: until }, _, { timeZone }) => {
  if (kind !== 'booking' && kind !== 'block') return null;
  const [was, is] = [momentOf(from, timeZone), momentOf(until, timeZone)];
  return was === null || is === null ? `Moved a ${kind} to another time.` : `Moved a ${kind} from ${was} to ${is}.`;
};

/** By action. Null where an older entry does not say it. */
const sentences: Readonly<Record<string, Sentence>> = {
  'site.updated': ({ title, name, colors }) =>
    changed([title && `the title to “${to(title)}”`, name && `the name to ${to(name)}`, colors && 'the colours']),
  'site.published': ({ number }, _, { status }) =>
    number ? `Started to publish version ${number}.${outcomeOf(status)}` : null,
  'deployment.created': (_, name) => `Started an upload of ${name}.`,
  'deployment.completed': (_, name) => `Made ${name} live, which was uploaded.`,
  'deployment.restored': (_, name) => `Made ${name} live again.`,
  'preview.built': (_, name) => `Started to build ${name}.`,
  'preview.published': ({ number }, name, { status }) =>
    `Started to publish ${name}${number ? ` as version ${number}` : ''}.${outcomeOf(status)}`,
  'preview.cleared': (_, name) => `Emptied ${name}.`,
  'repository.committed': ({ files_changed: n, branch }, name) =>
    typeof n === 'number' && n > 0
      ? `Changed ${n} ${n === 1 ? 'file' : 'files'} of the ${partOf(name)}${placeOf(branch)}.`
      : null,
  'repository.pushed': ({ branch }, name) => `Sent changes of the ${partOf(name)} with git${placeOf(branch)}.`,
  'repository.merged': ({ branch }) => `Brought the site’s newest changes into ${previewOf(branch) ?? 'a preview'}.`,
  'domain.attached': ({ primary }) =>
    primary === true ? 'Made a domain the main address of the site.' : 'Connected a domain to the site.',
  'review_link.created': ({ slot }) => `Created a review link${typeof slot === 'number' ? ` of preview ${slot}` : ''}.`,
  'submission.marked': ({ spam }) =>
    typeof spam === 'boolean' ? `Marked a message as ${spam ? 'spam' : 'not spam'}.` : null,
  'timetable.updated': ({ changed: parts }) =>
    Array.isArray(parts) ? changed(parts.map((part) => bookingParts[String(part)])) : null,
  'booking.created': booked({ booking: 'Added a booking', block: 'Blocked time in a calendar' }),
  'booking.moved': moved,
  'booking.cancelled': booked({ booking: 'Cancelled a booking', block: 'Removed a block from a calendar' }),
  'account.updated': ({ changed: parts, asked }) => {
    if (!Array.isArray(parts)) return null;
    const name = parts.includes('name') ? 'Changed the name of the account. ' : '';
    if (asked === true) return `${name}Asked for another e-mail address.`;
    return `${name}${parts.includes('pending_email') ? 'Withdrew the request for another e-mail address.' : ''}`.trim();
  },
  'account.address_changed': ({ to: address }) => (address ? `The account’s e-mail address is now ${address}.` : null),
  'payment.created': ({ amount, currency }) =>
    typeof amount === 'number' && typeof currency === 'string'
      ? `Created a payment link for ${written({ amount, currency })}.`
      : null,
  'payment.refunded': ({ amount, of, currency }) => {
    if (typeof amount !== 'number' || typeof currency !== 'string') return null;
    const part = typeof of === 'number' && of !== amount ? ` of a payment of ${written({ amount: of, currency })}` : '';
    return `Started the refund of ${written({ amount, currency })}${part}.`;
  },
  'token.created': (_, name) => (name ? `Gave “${name}” access to the account.` : null),
};

const bookingParts: Readonly<Record<string, string>> = {
  notify_to: 'where e-mails about bookings go',
  reply_to: 'where replies to e-mails about bookings go',
  fallback: 'the text about bookings for visitors without scripts',
};

/** `says`: the sentence of the action. */
export function sentenceOf(
  { action, subject, detail }: { action: string; subject: { name: string | null }; detail: Detail },
  says: string,
  about: About = {},
): string {
  return sentences[action]?.(detail, subject.name ?? '', about) ?? says;
}

/** On the pages of one site. */
export const ofThisSite = (says: string): string => says.replace(/\ba(?:n archived| deleted)? site\b/, 'this site');

/** How the publish of a version ended, or that it has not. */
function outcomeOf(status: string | undefined): string {
  if (status === undefined) return '';
  return outcomes[status] ?? ' It is not done yet.';
}

const outcomes: Readonly<Record<string, string>> = {
  live: ' It is live.',
  retired: ' It went live.',
  failed: ' It failed.',
  cancelled: ' It was cancelled.',
  superseded: ' A newer version replaced it.',
};

const momentOf = (at: unknown, timeZone: string | undefined): string | null =>
  typeof at === 'string' && timeZone !== undefined ? momentIn(at, timeZone) : null;

function changed(parts: readonly unknown[]): string | null {
  const named = parts.filter((part): part is string => typeof part === 'string' && part !== '');
  return named.length === 0 ? null : `Changed ${new Intl.ListFormat('en').format(named)}.`;
}

const to = (change: unknown): string => String((change as { to?: unknown }).to ?? '');
const partOf = (repository: string): string => (repository === 'content' ? 'posts' : 'pages');

function previewOf(branch: unknown): string | null {
  const [, slot] = /^preview\/(\d+)$/.exec(String(branch)) ?? [];
  return slot === undefined ? null : `preview ${slot}`;
}

function placeOf(branch: unknown): string {
  const preview = previewOf(branch);
  return preview === null ? '' : ` in ${preview}`;
}
