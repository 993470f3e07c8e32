/** What a call is answered, as the contract says it: a code, or `ok`. */
import { expect } from 'vitest';
import { catalog, type ErrorCode } from '#runtime/errors.ts';
import { covers, includes, isBlocked, isMember, lives, type Model, type Scope, type Thing } from './endings-model.ts';

export type Verdict = 'ok' | ErrorCode;

/** The first that is not `ok`. */
export const first = (...verdicts: (Verdict | (() => Verdict))[]): Verdict => {
  for (const verdict of verdicts) {
    const found = typeof verdict === 'function' ? verdict() : verdict;
    if (found !== 'ok') return found;
  }
  return 'ok';
};

/** Whether the token may make calls that need this. */
export function calls(model: Model, caller: Thing, now: number, need: Partial<Omit<Scope, 'sites'>> = {}): Verdict {
  if (!lives(caller, now) || caller.expiresAt <= now) return 'unauthorized';
  if (isBlocked(model, caller.account)) return 'access_denied';
  return allows(caller, need);
}

function allows({ scope }: Thing, { account, access }: Partial<Omit<Scope, 'sites'>>): Verdict {
  const lacks = (account && !scope?.account) || (access === 'write' && scope?.access === 'read');
  return lacks ? 'out_of_scope' : 'ok';
}

/** Whether the token sees the site. */
export function sees(model: Model, caller: Thing, site: number): Verdict {
  if (!isMember(model, caller.account, site)) return 'not_found';
  return covers(caller.scope as Scope, site) ? 'ok' : 'out_of_scope';
}

export const owns = (model: Model, { account }: Thing, site: number): Verdict =>
  model.sites[site]?.owner === account ? 'ok' : 'owner_only';

/** Whether the thing is the other one, or made it. */
const isOrMade = (thing: Thing, other: Thing): boolean =>
  thing === other || (other.maker !== undefined && isOrMade(thing, other.maker));

export function makingToken(
  model: Model,
  maker: Thing,
  { scope, now, inTime }: { scope: Scope; now: number; inTime: boolean },
): Verdict {
  const named = scope.sites === 'all' ? [] : scope.sites;
  return first(
    calls(model, maker, now, { account: true }),
    ...named.map((site): Verdict => (isMember(model, maker.account, site) ? 'ok' : 'not_found')),
    () => (includes(maker.scope as Scope, scope) ? 'ok' : 'out_of_scope'),
    inTime ? 'ok' : 'invalid_expiry',
  );
}

export function makingForSite(
  model: Model,
  maker: Thing,
  asked: { kind: 'git' | 'upload' | 'review'; site: number; access: 'read' | 'write'; now: number; inTime: boolean },
): Verdict {
  const { kind, site, access, now, inTime } = asked;
  return first(
    calls(model, maker, now, kind === 'git' ? {} : { access }),
    sees(model, maker, site),
    () => allows(maker, { access }),
    access === 'write' && model.sites[site]?.archived ? 'site_archived' : 'ok',
    inTime ? 'ok' : 'invalid_expiry',
  );
}

export function rotating(model: Model, caller: Thing, thing: Thing, now: number): Verdict {
  return first(
    calls(model, caller, now, { account: true }),
    thing.account === caller.account ? 'ok' : 'not_found',
    isOrMade(caller, thing) ? 'ok' : 'token_not_yours',
  );
}

/** The end of something by the call for it. */
export function revoking(model: Model, caller: Thing, thing: Thing, now: number): Verdict {
  const { kind, site = 0, account } = thing;
  if (kind === 'token' || kind === 'client') {
    return first(
      calls(model, caller, now, { account: true }),
      account === caller.account ? 'ok' : 'not_found',
      isOrMade(thing, caller) ? 'current_token' : 'ok',
    );
  }
  const isTheirs = kind !== 'git' || account === caller.account || model.sites[site]?.owner === caller.account;
  return first(
    calls(model, caller, now, { access: 'write' }),
    sees(model, caller, site),
    isTheirs ? 'ok' : 'not_found',
  );
}

/** What a call does to a site: its needs, and what its state allows. */
export function closing(
  model: Model,
  caller: Thing,
  { site, need, now }: { site: number; need: Partial<Omit<Scope, 'sites'>>; now: number },
): Verdict {
  const deletes = need.account && model.sites[site]?.deleteAt === undefined;
  return first(
    calls(model, caller, now, need),
    sees(model, caller, site),
    owns(model, caller, site),
    deletes && model.sites[site]?.blocked ? 'site_archived' : 'ok',
  );
}

/** The end of the guest's stay: by themselves, or by the owner. */
export function leaving(model: Model, caller: Thing, now: number, byItself: boolean): Verdict {
  return first(
    calls(model, caller, now, { access: 'write' }),
    sees(model, caller, 0),
    byItself ? (caller.account === 1 ? 'ok' : 'not_found') : owns(model, caller, 0),
  );
}

type Answered = { status: number; body: { error?: { code: string } } };
const wordOf = (verdict: Verdict) => (verdict === 'ok' ? '200 ok' : `${catalog[verdict].status} ${verdict}`);

/** Compares code and status; what has ended may have been forgotten. Returns whether the call succeeded. */
export function compare({ status, body }: Answered, said: string, ...expected: Verdict[]): boolean {
  const got = `${status} ${body.error?.code ?? 'ok'}`;
  expect(expected.map(wordOf), `${said} ${JSON.stringify(body)}`).toContain(got);
  return status === 200;
}
