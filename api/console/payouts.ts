/** The account's payout accounts, and offers of them. */
import { capabilitiesOf } from '#api/capabilities.ts';
import { payoutsShown } from '#api/payout-offers/pages.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { payoutsPage } from '#web/console/payouts.ts';
import { type Console, consolePage, frameOf } from './frame.ts';

export function payoutPages({ app, deps }: Console): void {
  app.get('/account/payouts', consolePage('payouts'), async (request, reply) => {
    const payouts = await payoutsShown(request.em, deps, request.actor);
    return sendPage(reply, payoutsPage(frameOf(request, reply, deps), payouts, capabilitiesOf(deps.config).payouts));
  });
}
