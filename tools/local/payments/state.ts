/** State of the simulated payment provider. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '#runtime/clock.ts';
import type { StripeMock } from './stripe-mock.ts';

/** Faults that a test can inject. Shares are from 0 to 1. */
export type Knobs = {
  /** Share of webhooks that are lost, and share that are sent twice. */
  loseWebhooks: number;
  doubleWebhooks: number;
  /** Each is delayed by up to this many milliseconds, so that they arrive out of order. */
  delayWebhooksMs: number;
  /** Share of requests that are refused, and share that are executed without a response. */
  turnAway: number;
  loseAnswers: number;
  /** Every card is declined. */
  decline: boolean;
  /** Whether refunds fail for an insufficient balance. */
  failRefunds: boolean;
  /** Whether refunds stay pending, as with a slow bank. */
  holdRefunds: boolean;
  /** Whether a completed account can accept payments at once. */
  enableAccounts: boolean;
};

export const calm: Knobs = {
  loseWebhooks: 0,
  doubleWebhooks: 0,
  delayWebhooksMs: 0,
  turnAway: 0,
  loseAnswers: 0,
  decline: false,
  failRefunds: false,
  holdRefunds: false,
  enableAccounts: true,
};

/** An object of the provider's API; `account` is its owner and never in a response. */
export type StoredObject = { id: string; object: string; account: string; [field: string]: unknown };

export type Call = {
  method: string;
  path: string;
  /** The path's parameters. */
  found: string[];
  input: Record<string, unknown>;
  /** The request's API key, and the account it acts on. */
  key: string;
  account: string;
};

export type Route = {
  method: 'GET' | 'POST' | 'DELETE';
  path: RegExp;
  run(
    stub: PaymentsStub,
    call: Call,
  ): StoredObject | { object: 'list'; data: StoredObject[]; has_more: boolean; url: string } | Promise<StoredObject>;
};

export type PaymentsStub = {
  clock: Clock;
  /** From 0 to 1; tests pass a seeded one. */
  random(): number;
  knobs: Knobs;
  /** Its own address. */
  url: string;
  objects: Map<string, StoredObject>;
  /** The account of the platform's own key. */
  platform: string;
  shapes: StripeMock;
  /** Sends a webhook about the object if its account has an endpoint. */
  sendEvent(type: string, about: StoredObject): void;
};

/** An error response of the provider. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function keep(stub: PaymentsStub, kept: StoredObject): StoredObject {
  stub.objects.set(kept.id, kept);
  return kept;
}

/** The object with that id on the account. Throws `Refusal` if it does not exist. */
export function find(stub: PaymentsStub, object: string, id: string, account: string): StoredObject {
  const kept = stub.objects.get(id);
  if (kept?.object === object && kept.account === account) return kept;
  throw new Refusal(404, 'resource_missing', `No such ${object}: '${id}'`);
}

export function allOf(stub: PaymentsStub, object: string, account: string): StoredObject[] {
  return [...stub.objects.values()].filter((kept) => kept.object === object && kept.account === account).reverse();
}

export const newName = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`;
export const seconds = ({ clock }: PaymentsStub) => Math.floor(clock.now().getTime() / 1000);
