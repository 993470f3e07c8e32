/**
 * What a tool does to the world, for clients that ask their user before some of them. A method says most: GET reads, PUT and PATCH
 * change, DELETE ends. What a POST does stands here, for each.
 */
import type { Operation } from './operations.ts';

export type Hints = {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
};

type Effect = 'reads' | 'adds' | 'settles' | 'changes' | 'ends';

/**
 * `adds`: what was there stays as it was. `settles`: so too, and a second time does nothing. `changes`: puts a state in place of another. `ends`:
 * something is gone, or dark.
 */
export const posts: Readonly<Record<string, Effect>> = {
  'billing.checkout': 'adds',
  'billing.portal': 'adds',
  'bookable.declare': 'changes',
  'booking.cancel': 'ends',
  'collaborator.invite': 'adds',
  'comment.reply': 'adds',
  'comment.write': 'adds',
  'deployment.complete': 'changes',
  'deployment.create': 'adds',
  'deployment.manifest': 'adds',
  'deployment.restore': 'changes',
  'domain.attach': 'changes',
  'domain.check': 'settles',
  'domain.detach': 'changes',
  'domain.onboard': 'adds',
  'feedback.create': 'adds',
  'form.create': 'adds',
  'form.disable': 'changes',
  'form.enable': 'settles',
  'invitation.accept': 'settles',
  'payment.create': 'adds',
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
  'site.unarchive': 'settles',
  'sketch.create': 'adds',
  'source.commit': 'changes',
  'source.credential': 'adds',
  'token.create': 'adds',
  'upload.create': 'adds',
};

/** Those that reach somebody who is not on this platform: a mailbox, the DNS, a library, whoever moves money. */
const outside = new Set([
  'billing.checkout',
  'billing.portal',
  'collaborator.invite',
  'account.change',
  'booking.cancel',
  'domain.onboard',
  'domain.check',
  'payment.create',
  'payment.refund',
  'payout.add',
  'payout.onboard',
  'payout.replace_key',
  'photo.search',
  'photo.place',
]);

export function hintsOf({ name, method }: Pick<Operation, 'name' | 'method'>): Hints {
  const effect = effectOf(name, method);
  return {
    readOnlyHint: effect === 'reads',
    // In the protocol, false is a promise: whatever the call does, it only adds.
    destructiveHint: effect === 'ends' || effect === 'changes',
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
