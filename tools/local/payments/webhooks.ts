/** Signed webhooks: lost, duplicated or delayed as the knobs say, and retried until they are accepted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sdk } from '#providers/payments/sdk.ts';
import { newName, type PaymentsStub, type StoredObject, seconds } from './state.ts';

/** The endpoint of the webhooks, and their signing secret. */
export type Hook = { url: string; secret: string };
/** For events of connected accounts, and of the platform's own account. */
export type Hooks = { connect?: Hook | undefined; platform?: Hook | undefined };

const triesMax = 8;

/**
 * Returns a function that sends a webhook, and one that waits until all pending ones have been delivered or abandoned.
 */
export function createWebhooks(stub: () => PaymentsStub, hooks: Hooks) {
  const pending = new Set<Promise<void>>();
  let closed = false;

  async function deliver(hook: Hook, payload: string, afterMs: number): Promise<void> {
    await sleep(afterMs);
    for (let tries = 0; tries < triesMax && !closed; tries++) {
      const signing = { payload, secret: hook.secret, timestamp: seconds(stub()) };
      const signature = await sdk().webhooks.generateTestHeaderStringAsync(signing);
      const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature };
      const answer = await fetch(hook.url, { method: 'POST', headers, body: payload }).catch(() => undefined);
      if (answer?.ok) return;
      await sleep(100 * 2 ** tries, undefined, { ref: false });
    }
  }

  return {
    sendEvent(type: string, about: StoredObject): void {
      const { knobs, random, platform, objects } = stub();
      const isConnected = objects.get(about.account)?.byPlatform === true;
      const hook = about.account === platform ? hooks.platform : isConnected ? hooks.connect : undefined;
      if (!hook) return;
      const event = {
        id: newName('evt'),
        object: 'event',
        type,
        created: seconds(stub()),
        ...(isConnected ? { account: about.account } : {}),
        data: { object: shown(about) },
      };
      const payload = JSON.stringify(event);
      const times = random() < knobs.loseWebhooks ? 0 : random() < knobs.doubleWebhooks ? 2 : 1;
      for (let time = 0; time < times; time++) {
        const sent = deliver(hook, payload, random() * knobs.delayWebhooksMs).finally(() => pending.delete(sent));
        pending.add(sent);
      }
    },
    settled: async () => void (await Promise.all(pending)),
    close() {
      closed = true;
    },
  };
}

/** The provider's representation: without the owner and our internal fields. */
export function shown({
  account: _account,
  chargeMetadata: _metadata,
  byPlatform: _platform,
  title: _title,
  business: _business,
  ...rest
}: StoredObject) {
  return rest;
}
