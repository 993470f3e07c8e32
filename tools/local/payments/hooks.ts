/** Signed messages to whoever hears of an account: lost, doubled and late as the knobs say, and repeated until they are taken. */
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { type Kept, newName, type StandIn, seconds } from './state.ts';

/** Where messages go, and what signs them. */
export type Hook = { url: string; secret: string };
/** About connected accounts, and about the platform's own. */
export type Hooks = { connect?: Hook | undefined; platform?: Hook | undefined };

const triesMax = 8;

/** Answers the function that tells, and one that waits until all that is under way has come, or was given up. */
export function openHooks(standIn: () => StandIn, hooks: Hooks) {
  const underWay = new Set<Promise<void>>();
  let closed = false;

  async function deliver(hook: Hook, payload: string, afterMs: number): Promise<void> {
    await sleep(afterMs);
    for (let tries = 0; tries < triesMax && !closed; tries++) {
      const signing = { payload, secret: hook.secret, timestamp: seconds(standIn()) };
      const signature = await Stripe.webhooks.generateTestHeaderStringAsync(signing);
      const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature };
      const answer = await fetch(hook.url, { method: 'POST', headers, body: payload }).catch(() => undefined);
      if (answer?.ok) return;
      await sleep(100 * 2 ** tries, undefined, { ref: false });
    }
  }

  return {
    tell(type: string, about: Kept): void {
      const { knobs, random, platform, objects } = standIn();
      const isConnected = objects.get(about.account)?.byPlatform === true;
      const hook = about.account === platform ? hooks.platform : isConnected ? hooks.connect : undefined;
      if (!hook) return;
      const event = {
        id: newName('evt'),
        object: 'event',
        type,
        created: seconds(standIn()),
        ...(isConnected ? { account: about.account } : {}),
        data: { object: shown(about) },
      };
      const payload = JSON.stringify(event);
      const times = random() < knobs.loseWebhooks ? 0 : random() < knobs.doubleWebhooks ? 2 : 1;
      for (let time = 0; time < times; time++) {
        const sent = deliver(hook, payload, random() * knobs.delayWebhooksMs).finally(() => underWay.delete(sent));
        underWay.add(sent);
      }
    },
    settled: async () => void (await Promise.all(underWay)),
    close() {
      closed = true;
    },
  };
}

/** As the provider shows it: whose it is, and what was kept for ourselves, are left out. */
export function shown({
  account: _account,
  chargeMetadata: _metadata,
  byPlatform: _platform,
  title: _title,
  ...rest
}: Kept) {
  return rest;
}
