/** How the provider of payments is spoken to, by payments and by plans alike. */
import Stripe from 'stripe';
import { translate } from './faults.ts';

/** A call is over after this, answered or not. */
const timeoutMs = 15_000;
/** How old a signed message may be. */
const toleranceSeconds = 300;
const httpClient = Stripe.createNodeHttpClient();

/** Speaks with this key to the provider at `url`. Never tries again: whoever asks does. */
export function openClient(key: string, url: string): Stripe {
  const { protocol, hostname, port } = new URL(url);
  return new Stripe(key, {
    host: hostname,
    ...(port ? { port } : {}),
    protocol: protocol === 'http:' ? 'http' : 'https',
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    httpClient,
  });
}

/** The answer, or a PaymentsFault. */
export async function translateFaults<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw translate(error);
  }
}

/** What a signed message says. Throws where it was not signed with `secret` within five minutes of `now`. */
export function readSigned(body: Buffer, signature: string, secret: string, now: Date): Stripe.Event {
  return Stripe.webhooks.constructEvent(body, signature, secret, toleranceSeconds, undefined, now.getTime());
}
