/** What the stand-in for the provider of payments remembers. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '#runtime/clock.ts';
import type { Shapes } from './shapes.ts';

/** What a test does to the stand-in. Shares are from 0 to 1. */
export type Knobs = {
  /** Share of webhooks that are never sent, and of those that are sent twice. */
  loseWebhooks: number;
  doubleWebhooks: number;
  /** Each is kept back for up to so long, so that they come in another order. */
  delayWebhooksMs: number;
  /** Share of calls that are turned away, and of those that are done and not answered. */
  turnAway: number;
  loseAnswers: number;
  /** Every card is declined. */
  decline: boolean;
  /** Whether a refund fails for want of money on the account. */
  failRefunds: boolean;
  /** Whether a refund waits, and for as long: a bank takes its time. */
  holdRefunds: boolean;
  /** Whether an account that was completed may take money at once. */
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

/** An object of the provider's API; `account` is whose it is and is never answered. */
export type Kept = { id: string; object: string; account: string; [field: string]: unknown };

export type Call = {
  method: string;
  path: string;
  /** What the path's pattern found. */
  found: string[];
  input: Record<string, unknown>;
  /** The key that was sent, and the account that is acted on. */
  key: string;
  account: string;
};

export type Route = {
  method: 'GET' | 'POST' | 'DELETE';
  path: RegExp;
  run(
    standIn: StandIn,
    call: Call,
  ): Kept | { object: 'list'; data: Kept[]; has_more: boolean; url: string } | Promise<Kept>;
};

export type StandIn = {
  clock: Clock;
  /** From 0 to 1; a test that repeats itself brings its own. */
  random(): number;
  knobs: Knobs;
  /** Its own address. */
  url: string;
  objects: Map<string, Kept>;
  /** Whose id the platform's own key has. */
  platform: string;
  shapes: Shapes;
  /** Sends a signed message about the object, if somebody hears of its account. */
  tell(type: string, about: Kept): void;
};

/** What the provider says when it does not do what was asked. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function keep(standIn: StandIn, kept: Kept): Kept {
  standIn.objects.set(kept.id, kept);
  return kept;
}

/** The object of that id on the account. Throws a refusal, as for one that is not there. */
export function find(standIn: StandIn, object: string, id: string, account: string): Kept {
  const kept = standIn.objects.get(id);
  if (kept?.object === object && kept.account === account) return kept;
  throw new Refusal(404, 'resource_missing', `No such ${object}: '${id}'`);
}

export function allOf(standIn: StandIn, object: string, account: string): Kept[] {
  return [...standIn.objects.values()].filter((kept) => kept.object === object && kept.account === account).reverse();
}

export const newName = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`;
export const seconds = ({ clock }: StandIn) => Math.floor(clock.now().getTime() / 1000);
