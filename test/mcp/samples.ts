/** A call of each tool with inputs that it takes, and of the API's call that it is. */
import { followed } from '#api/operations/progress.ts';
import type { AccessFixture } from '#test/api/access/access-fixture.ts';
import { partsOf, pathWith, sentTo } from '#test/api/access/access-paths.ts';
import { type Entry, table } from '#test/api/access/access-table.ts';
import { errorOf } from '#test/api/fixture.ts';

/** Calls of the API that take a token. */
export const entries = Object.entries(table).filter(([name]) => name.includes(' /v1/') && !name.includes('/v1/auth/'));
export const whoOf = ({ rule }: Entry) => (rule === 'invitee' ? 'invitee' : 'owner');

/** What the second of two same calls is told, where the first has changed something for it. */
export const again: Record<string, string> = {
  'PATCH /v1/account': 'nothing_to_update',
  'POST /v1/sites/{id}/collaborators': 'already_invited',
};

/** Only what the path names: makers of the table answer more than that. */
const inPath = (name: string, parts: Record<string, string>) =>
  Object.fromEntries(Object.entries(parts).filter(([part]) => name.includes(`{${part}}`)));

/** Answers `answered`, or the code that the call is refused with. */
export async function throughApi(fixture: AccessFixture, name: string, entry: Entry): Promise<string> {
  const path = pathWith(name, await partsOf(fixture, name));
  const [method = ''] = name.split(' ');
  const { headers, ...sent } = sentTo(fixture, name);
  const answer = await fixture.calls[whoOf(entry)](method, `${path}${entry.query ?? ''}`, {
    ...sent,
    headers: { prefer: 'respond-async', ...headers },
  });
  return answer.status < 400 ? 'answered' : errorOf(answer).code;
}

/** Inputs of the tool of this operation, `site.publish`. */
export async function inputFor(
  fixture: AccessFixture,
  operation: string,
  [name, entry]: [string, Entry],
): Promise<Record<string, unknown>> {
  return {
    ...inPath(name, await partsOf(fixture, name)),
    ...Object.fromEntries(new URLSearchParams(entry.query)),
    ...sentTo(fixture, name).body,
    ...(entry.file ? { base64: entry.file.toString('base64') } : {}),
    ...(operation in followed ? { wait_seconds: 0 } : {}),
  };
}

/** Words of a model, and the operation that they find. */
export const foundBy = [
  ['roll back to the version before', 'deployment_restore'],
  ['undo', 'deployment_restore'],
  ['refund a booking', 'payment_refund'],
  ['what enquiries came', 'form_submissions'],
  ['export everything', 'site_export'],
  ['a picture from a stock library', 'photo_search'],
  ['upgrade the plan', 'account_read'],
  ['translate into another language', 'source_commit'],
  ['make a contact form', 'form_create'],
  ['reschedule an appointment', 'booking_move'],
  ['what differs between two versions', 'deployment_compare'],
  ['what differs between two versions', 'deployment_read'],
  ['response header for all pages, CORS', 'skill_read'],
  ['connect payments', 'payout_add'],
  ['list the bookings', 'booking_list'],
  ['list free times on a day', 'offer_slots'],
  ['book an appointment as a visitor', 'bookable_read'],
  ['close for the holidays', 'bookable_declare'],
  ['refund a part of a booking', 'payment_refund'],
  ['how much was taken in total', 'payment_list'],
  ['check the live site for faults', 'deployment_check'],
  ['thank-you text and confirmation e-mail', 'form_create'],
  ['robots and search engines', 'skill_read'],
];
