/**
 * The effects of tools, for clients that ask their user before some of them. Most follow from the method: GET reads,
 * PUT and PATCH change, DELETE ends. The effects of POST operations are listed here.
 */
import type { Operation } from '#api/operations/operations.ts';

export type Hints = {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
};

type Effect = 'reads' | 'adds' | 'settles' | 'changes' | 'ends';

/**
 * `adds`: existing data stays unchanged. `settles`: the same, and a repetition has no effect. `changes`: replaces
 * existing state. `ends`: removes something or takes it offline.
 */
export const posts: Readonly<Record<string, Effect>> = {
  'billing.checkout': 'adds',
  'billing.portal': 'adds',
  'bookable.declare': 'changes',
  'booking.cancel': 'ends',
  'booking.create': 'adds',
  'booking.move': 'changes',
  'calendar_feed.create': 'adds',
  'collaborator.invite': 'adds',
  'comment.reply': 'adds',
  'comment.write': 'adds',
  'deployment.check': 'settles',
  'deployment.compare': 'settles',
  'deployment.complete': 'changes',
  'deployment.create': 'adds',
  'deployment.manifest': 'adds',
  'deployment.send_archive': 'adds',
  'deployment.restore': 'changes',
  'domain.attach': 'changes',
  'domain.check': 'settles',
  'domain.detach': 'changes',
  'domain.onboard': 'adds',
  'feedback.create': 'adds',
  'form.create': 'adds',
  'form.disable': 'changes',
  'form.enable': 'settles',
  'inbox.done': 'settles',
  'invitation.accept': 'settles',
  'payment.create': 'adds',
  'payment.expire': 'ends',
  'payment.refund': 'ends',
  'payout.add': 'adds',
  'payout.onboard': 'adds',
  'payout.replace_key': 'ends',
  'payout_agreement.attach': 'changes',
  'payout_offer.accept': 'changes',
  'payout_offer.open_from_account': 'adds',
  'payout_offer.open_from_site': 'adds',
  'photo.place': 'adds',
  'photo.search': 'reads',
  'preview.build': 'changes',
  'preview.publish': 'changes',
  'preview.update': 'changes',
  'record.add': 'adds',
  'review.create': 'adds',
  'site.archive': 'ends',
  'site.create': 'adds',
  'site.publish': 'changes',
  'site.restore': 'settles',
  'site.unarchive': 'settles',
  'sketch.create': 'adds',
  'source.commit': 'changes',
  'source.credential': 'adds',
  'token.create': 'adds',
  'token.rotate': 'changes',
  'upload.create': 'adds',
};

/** Operations that reach outside this platform: mailboxes, the DNS, a photo library, a payment provider. */
const outside = new Set([
  'billing.checkout',
  'billing.portal',
  'collaborator.invite',
  'account.change',
  'booking.cancel',
  'booking.create',
  'booking.move',
  'domain.onboard',
  'domain.check',
  'payment.create',
  'payment.expire',
  'payment.refund',
  'payout.add',
  'payout.onboard',
  'payout.replace_key',
  'photo.search',
  'photo.place',
  'site.delete',
]);

export function hintsOf({ name, method }: Pick<Operation, 'name' | 'method'>): Hints {
  const effect = effectOf(name, method);
  return {
    readOnlyHint: effect === 'reads',
    // Clients ask their user before these: what a change replaces is kept in git, in versions or in the history.
    destructiveHint: effect === 'ends',
    idempotentHint: effect !== 'adds',
    openWorldHint: outside.has(name),
  };
}

function effectOf(name: string, method: string): Effect {
  if (method === 'GET') return 'reads';
  if (method === 'DELETE') return 'ends';
  if (method !== 'POST') return 'changes';
  return posts[name] ?? 'ends';
}
