/** The client for the payment provider, shared by payments and plans. */
import type Stripe from 'stripe';
import { translate } from './faults.ts';
import { sdk } from './sdk.ts';

const timeoutMs = 15_000;
/** The maximum age of a signed message. */
const toleranceSeconds = 300;
/** Shared by all clients, with its connections. */
let httpClient: Stripe.HttpClient | undefined;

/** A client with this key for the provider at `url`. It never retries: callers do. */
export function openClient(key: string, url: string): Stripe {
  const { protocol, hostname, port } = new URL(url);
  const Client = sdk();
  httpClient ??= Client.createNodeHttpClient();
  return new Client(key, {
    host: hostname,
    ...(port ? { port } : {}),
    protocol: protocol === 'http:' ? 'http' : 'https',
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    httpClient,
  });
}

/** The result of `act`, or a PaymentsFault. */
export async function translateFaults<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw translate(error);
  }
}

/** The event in a signed message. Throws unless it was signed with `secret` within five minutes of `now`. */
export function readSigned(body: Buffer, signature: string, secret: string, now: Date): Stripe.Event {
  return sdk().webhooks.constructEvent(body, signature, secret, toleranceSeconds, undefined, now.getTime());
}
