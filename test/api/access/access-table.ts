/**
 * Who may make each call of the API. A new route stands here before its tests pass: with the rule that lets callers through, a body
 * that the call takes, and, where it names more than the site, how to make that.
 */
import { timetable } from '#test/bookings/timetable.ts';
import type { AccessFixture } from './access-fixture.ts';
import type { Rule } from './access-rules.ts';
import { ownBookingCalls } from './access-table-bookings.ts';
import { payoutCalls } from './access-table-payouts.ts';
import { versionCalls } from './access-table-versions.ts';

export type Body = Record<string, unknown>;
export type Entry = {
  rule: Rule;
  body?: Body | ((fixture: AccessFixture) => Body);
  /** The body as bytes, where it is a file. */
  file?: Buffer;
  query?: string;
  /** Parts of the path; the site and its deployment are known. */
  path?: (fixture: AccessFixture) => Promise<Record<string, string>> | Record<string, string>;
  /** What the caller who gets through is told, where the site has nothing to do it with. */
  refusal?: string;
};

const members = { rule: 'members' } as const;
const tokens = { rule: 'tokens' } as const;
const all = { rule: 'all' } as const;

const slotOne = () => ({ slot: '1' });
const slotTwo = () => ({ slot: '2' });
const assetPath = () => ({ path: 'public/a.pdf' });

export const table: Record<string, Entry> = {
  'GET /healthz': all,
  'GET /readyz': all,

  'POST /v1/auth/requests': { rule: 'all', body: { email: 'person@example.com', agent_name: 'Agent' } },
  // Without its secret a request is nobody's; with it, no token is asked for.
  'POST /v1/auth/requests/{id}/redeem': {
    rule: 'all',
    body: { secret: 'x' },
    path: (fixture) => fixture.accessRequest(),
    refusal: 'not_found',
  },

  'GET /v1/account': tokens,
  'GET /v1/account/history': tokens,
  'PATCH /v1/account': { rule: 'tokens', body: { name: 'A name' } },
  'GET /v1/inbox': tokens,
  'POST /v1/inbox/done': {
    rule: 'tokens',
    body: { items: [{ kind: 'invitation', id: 'inv_x' }] },
    refusal: 'not_found',
  },
  'GET /v1/billing': { rule: 'tokens', refusal: 'billing_disabled' },
  'POST /v1/billing/checkout': { rule: 'tokens', body: { plan: 'studio' }, refusal: 'billing_disabled' },
  'POST /v1/billing/portal': { rule: 'tokens', refusal: 'billing_disabled' },
  'GET /v1/skill': tokens,
  'GET /v1/skill/{path}': { rule: 'tokens', path: () => ({ path: 'SKILL.md' }) },
  'GET /v1/feedback': tokens,
  'POST /v1/feedback': { rule: 'tokens', body: { kind: 'defect', message: 'Something is broken.' } },
  'POST /v1/tokens': { rule: 'tokens', body: { name: 'Another' } },
  'GET /v1/tokens': tokens,
  'PATCH /v1/tokens/{id}': { rule: 'holder', body: { name: 'Other' }, path: (fixture) => fixture.ownersToken() },
  'DELETE /v1/tokens/{id}': { rule: 'holder', path: (fixture) => fixture.ownersToken() },
  'POST /v1/tokens/{id}/rotate': { rule: 'holder', path: (fixture) => fixture.ownersToken() },
  'GET /v1/templates': tokens,
  'GET /v1/packages': tokens,
  'GET /v1/sketches': tokens,
  'POST /v1/sketches': { rule: 'tokens', body: { title: 'T', directions: [{ name: 'One', html: '<p>1' }] } },
  'GET /v1/sketches/{id}/screenshot': { rule: 'holder', path: (fixture) => fixture.drawnSketch() },
  'DELETE /v1/sketches/{id}': { rule: 'holder', path: (fixture) => fixture.ownersSketch() },
  'POST /v1/photos/search': { rule: 'tokens', body: { query: 'bread' } },
  'POST /v1/sites': { rule: 'tokens', body: { name: 'admin', title: 'A title' }, refusal: 'invalid_name' },
  'GET /v1/sites': tokens,
  'GET /v1/sites/{id}': members,
  'PATCH /v1/sites/{id}': { rule: 'members', body: { title: 'A title' } },
  'POST /v1/sites/{id}/archive': { rule: 'owner', path: (fixture) => fixture.anotherSite() },
  'POST /v1/sites/{id}/unarchive': { rule: 'owner', path: (fixture) => fixture.anotherSite() },

  'GET /v1/sites/{id}/history': members,
  'DELETE /v1/sites/{id}': { rule: 'owner', refusal: 'site_not_archived' },
  'POST /v1/sites/{id}/restore-site': { rule: 'owner' },
  'GET /v1/sites/{id}/export': { rule: 'owner' },

  'GET /v1/sites/{id}/collaborators': members,
  'POST /v1/sites/{id}/collaborators': { rule: 'owner', body: { email: 'new@example.com' } },
  'DELETE /v1/sites/{id}/collaborators/{account_id}': { rule: 'owner', path: (fixture) => fixture.member() },
  'DELETE /v1/sites/{id}/collaborators/me': {
    rule: 'collaborator',
    path: (fixture) => fixture.anotherSite(),
    refusal: 'owner_cannot_leave',
  },
  'GET /v1/sites/{id}/invitations': { rule: 'owner' },
  'DELETE /v1/sites/{id}/invitations/{invitation_id}': { rule: 'owner', path: (fixture) => fixture.invitation() },
  'GET /v1/invitations': tokens,
  'DELETE /v1/invitations/{id}': { rule: 'invitee', path: (fixture) => fixture.inviteesInvitation() },
  'POST /v1/invitations/{id}/accept': { rule: 'invitee', path: (fixture) => fixture.inviteesInvitation() },

  'POST /v1/sites/{id}/git-credentials': { rule: 'members', body: { repository: 'source', access: 'read' } },
  'GET /v1/sites/{id}/git-credentials': members,
  'DELETE /v1/git-credentials/{id}': { rule: 'holder', path: (fixture) => fixture.gitCredential() },
  'GET /v1/sites/{id}/files': members,
  'POST /v1/sites/{id}/commits': {
    rule: 'members',
    body: { message: 'A note', changes: [{ path: 'src/note.md', text: 'x' }] },
  },
  'PUT /v1/sites/{id}/assets/{path}': { rule: 'members', file: Buffer.from('%PDF-1.7\n%%EOF\n'), path: assetPath },
  'GET /v1/sites/{id}/assets/{path}': { rule: 'members', path: assetPath },
  'GET /v1/sites/{id}/assets': members,
  'POST /v1/sites/{id}/photos': {
    rule: 'members',
    body: { photo_id: 'photo_01h455vb4pex5vsknk084sn02q', path: 'src/assets/x.jpg' },
    refusal: 'invalid_photo',
  },
  'POST /v1/sites/{id}/uploads': { rule: 'members', body: { expires_in_seconds: 60 } },
  'GET /v1/sites/{id}/uploads': members,
  'DELETE /v1/uploads/{id}': { rule: 'members', path: (fixture) => fixture.uploadLink() },
  'GET /v1/sites/{id}/redirects': members,
  'GET /v1/sites/{id}/analytics': members,
  'PUT /v1/sites/{id}/redirects': { rule: 'members', body: { rules: [] } },
  ...payoutCalls,
  ...ownBookingCalls,
  ...versionCalls,

  'POST /v1/sites/{id}/forms': {
    rule: 'members',
    body: { name: 'F', fields: [{ name: 'a', label: 'A', kind: 'text' }] },
  },
  'GET /v1/sites/{id}/forms': members,
  'GET /v1/forms/{id}': { rule: 'members', path: (fixture) => fixture.form() },
  'PATCH /v1/forms/{id}': { rule: 'members', body: { name: 'G' }, path: (fixture) => fixture.form() },
  'DELETE /v1/forms/{id}': { rule: 'members', path: (fixture) => fixture.form(), refusal: 'confirm_required' },
  'POST /v1/forms/{id}/disable': { rule: 'members', path: (fixture) => fixture.form() },
  'POST /v1/forms/{id}/enable': { rule: 'members', path: (fixture) => fixture.form() },
  'GET /v1/forms/{id}/submissions': { rule: 'members', path: (fixture) => fixture.form() },
  'GET /v1/submissions/{id}': { rule: 'members', path: (fixture) => fixture.submission() },
  'PATCH /v1/submissions/{id}': { rule: 'members', body: { spam: true }, path: (fixture) => fixture.submission() },
  'DELETE /v1/submissions/{id}': {
    rule: 'members',
    path: (fixture) => fixture.submission(),
    refusal: 'confirm_required',
  },
  // Whoever has the id of a form may see what it asks and send to it: it stands in the site's pages.
  'GET /f/{form_id}': { rule: 'all', path: (fixture) => fixture.form() },
  'GET /f/{form_id}/challenge': { rule: 'all', path: (fixture) => fixture.form() },
  'POST /f/{form_id}': { rule: 'all', body: { a: 'x' }, path: (fixture) => fixture.form(), refusal: 'not_a_person' },

  // A deployment without domains: what the calls do with some is in test/domains.
  'POST /v1/domains': { rule: 'tokens', body: { domain: 'example.com', mode: 'cname' }, refusal: 'invalid_mode' },
  'GET /v1/domains': tokens,
  'GET /v1/domains/{id}': { rule: 'holder', path: (fixture) => fixture.domain() },
  'DELETE /v1/domains/{id}': { rule: 'holder', path: (fixture) => fixture.domain() },
  'POST /v1/domains/{id}/check': { rule: 'holder', path: (fixture) => fixture.domain(), refusal: 'check_unavailable' },
  'POST /v1/domains/{id}/attach': {
    rule: 'holder',
    body: ({ siteId }) => ({ site_id: siteId }),
    path: (fixture) => fixture.domain(),
    refusal: 'domain_not_active',
  },
  'POST /v1/domains/{id}/detach': { rule: 'holder', path: (fixture) => fixture.domain() },
  'GET /v1/domains/{id}/records': {
    rule: 'holder',
    path: (fixture) => fixture.domain(),
    refusal: 'records_not_managed',
  },
  'POST /v1/domains/{id}/records': {
    rule: 'holder',
    body: { type: 'A', name: 'www', content: '192.0.2.1' },
    path: (fixture) => fixture.domain(),
    refusal: 'records_not_managed',
  },
  'DELETE /v1/domains/{id}/records/{record_id}': {
    rule: 'holder',
    path: async (fixture) => ({ ...(await fixture.domain()), record_id: 'rec_01h455vb4pex5vsknk084sn02q' }),
    refusal: 'records_not_managed',
  },

  'POST /v1/sites/{id}/bookable': { rule: 'members', body: timetable() },
  'GET /v1/sites/{id}/bookable': members,
  'DELETE /v1/sites/{id}/bookable': { rule: 'members', refusal: 'confirm_required' },
  'POST /v1/sites/{id}/payments': {
    rule: 'members',
    body: { amount: 1250, currency: 'EUR' },
    refusal: 'no_payout_account',
  },
  'GET /v1/sites/{id}/payments': members,
  'GET /v1/payments/{id}': { rule: 'members', path: (fixture) => fixture.payment() },
  'POST /v1/payments/{id}/expire': { rule: 'members', path: (fixture) => fixture.payment() },
  'POST /v1/payments/{id}/refund': {
    rule: 'owner',
    path: (fixture) => fixture.payment(),
    refusal: 'nothing_paid',
  },
  'GET /v1/sites/{id}/bookings': members,
  'GET /v1/bookings/{id}': { rule: 'members', path: (fixture) => fixture.booking() },
  'POST /v1/bookings/{id}/cancel': {
    rule: 'members',
    path: (fixture) => fixture.cancelledBooking(),
    refusal: 'not_cancellable',
  },
  'GET /b/{public_id}': { rule: 'all', path: (fixture) => fixture.bookable() },
  'GET /b/{public_id}/days': { rule: 'all', query: '?service=talk', path: (fixture) => fixture.bookable() },
  'GET /b/{public_id}/slots': {
    rule: 'all',
    query: '?service=talk&date=2026-01-01',
    path: (fixture) => fixture.bookable(),
  },
  'GET /b/{public_id}/challenge': {
    rule: 'all',
    path: (fixture) => fixture.bookable(),
  },
  'POST /b/{public_id}': {
    rule: 'all',
    body: { service: 'talk', start: '2026-01-01T00:00:00Z', visitor: { name: 'V', email: 'v@example.com' } },
    path: (fixture) => fixture.bookable(),
    refusal: 'invalid_slot',
  },
  'GET /v1/sites/{id}/comments': members,
  'POST /v1/sites/{id}/comments': { rule: 'members', body: { page: '/', body: 'Larger, please.' } },
  'POST /v1/comments/{id}/reply': { rule: 'members', body: { message: 'Done.' }, path: (fixture) => fixture.thread() },
  'GET /v1/comments/{id}/screenshot': { rule: 'members', path: (fixture) => fixture.thread() },
  'POST /v1/sites/{id}/review-links': members,
  'GET /v1/sites/{id}/review-links': members,
  'DELETE /v1/review-links/{id}': { rule: 'members', path: (fixture) => fixture.reviewLink() },
  'POST /v1/sites/{id}/deployments': members,
  'POST /v1/deployments/{id}/manifest': {
    rule: 'members',
    body: { files: [{ path: 'a.txt', sha256: '0'.repeat(64), bytes: 1 }] },
    refusal: 'not_accepting_uploads',
  },
  'POST /v1/deployments/{id}/archive': { rule: 'members', file: Buffer.from('x'), refusal: 'not_accepting_uploads' },
  'PUT /v1/deployments/{id}/files/{sha256}': {
    rule: 'members',
    file: Buffer.from('x'),
    path: () => ({ sha256: '0'.repeat(64) }),
    refusal: 'not_accepting_uploads',
  },
  'POST /v1/deployments/{id}/complete': { rule: 'members', refusal: 'not_accepting_uploads' },

  'POST /v1/sites/{id}/publish': { rule: 'members', body: { scope: 'site' } },
  'GET /v1/sites/{id}/previews': members,
  'GET /v1/sites/{id}/previews/{slot}': { rule: 'members', path: slotOne },
  'POST /v1/sites/{id}/previews/{slot}': { rule: 'members', path: slotOne },
  'POST /v1/sites/{id}/previews/{slot}/update': { rule: 'members', path: slotTwo, refusal: 'slot_empty' },
  'POST /v1/sites/{id}/previews/{slot}/publish': { rule: 'members', path: slotTwo, refusal: 'slot_empty' },
  'DELETE /v1/sites/{id}/previews/{slot}': { rule: 'members', path: slotTwo, refusal: 'slot_empty' },
  'GET /v1/sites/{id}/deployments': members,
  'POST /v1/deployments/{id}/restore': { rule: 'members', refusal: 'not_restorable' },
};
