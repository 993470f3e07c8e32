/** How access begins: each step makes something, tells the model, and compares whether it was allowed. */
import { expect } from 'vitest';
import { useLink } from '#api/auth/signin.ts';
import { hashSecret } from '#api/secrets.ts';
import { Account } from '#db/accounts/account.ts';
import { OauthCode } from '#db/auth/oauth-grant.ts';
import { SigninLink } from '#db/auth/signin-link.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { callerFrom, type Drawn, one, type Run, type Step, scopeFrom, siteFrom } from './endings-draws.ts';
import { endOf, isBlocked } from './endings-model.ts';
import { compare, makingForSite, makingToken } from './endings-verdicts.ts';
import { redirectUri, type World } from './endings-world.ts';

/** Of what is made; undefined leaves it to the product. */
const lifetimes = [undefined, undefined, 10 * minuteMs, 3 * dayMs];
const withLife = (ms: number | undefined) => (ms === undefined ? {} : { expires_in_seconds: ms / 1000 });

export async function makeToken({ world, model }: Run, drawn: Drawn): Promise<string> {
  const maker = callerFrom({ world, model }, drawn.by);
  const scope = scopeFrom(drawn);
  const life = one(lifetimes, drawn.how >> 2);
  const now = world.now();
  const end = life === undefined ? undefined : now + life;
  const expected = makingToken(model, maker, { scope, now, inTime: end === undefined || end <= endOf(maker) });
  const sites = scope.sites === 'all' ? 'all' : scope.sites.map((site) => world.sites[site]);
  const answer = await world.call(maker.secret, 'POST', '/v1/tokens', {
    name: 'agent',
    scope: { ...scope, sites, payouts: false },
    ...(end === undefined ? {} : { expires_at: new Date(end).toISOString() }),
  });
  const label = `token ${model.things.length}`;
  const said = `${maker.label} makes ${label} for ${JSON.stringify(scope)}, life ${life}: ${answer.status}`;
  if (compare(answer, said, expected)) {
    const { body } = answer;
    const expiresAt = body.expires_at === null ? Infinity : Date.parse(body.expires_at);
    const { id, access_token: secret } = body;
    model.things.push({
      kind: 'token',
      label,
      id,
      secret,
      account: maker.account,
      maker,
      scope,
      expiresAt,
      ended: false,
    });
  }
  return said;
}

/** What a call makes for one site. */
const offers = {
  git: { path: 'git-credentials', body: { repository: 'source' }, secretOf: (body: Made) => body.password },
  upload: { path: 'uploads', body: { max_files: 3 }, secretOf: (body: Made) => lastOf(body.url) },
  review: { path: 'review-links', body: {}, secretOf: (body: Made) => lastOf(body.url) },
} as const;
type Made = { password: string; url: string };
const lastOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? '';

export function makeForSite(kind: keyof typeof offers): Step {
  return async ({ world, model }, drawn) => {
    const { path, body: usual, secretOf } = offers[kind];
    const maker = callerFrom({ world, model }, drawn.by);
    const site = siteFrom(drawn);
    const access = kind === 'git' && drawn.how % 2 === 0 ? 'read' : 'write';
    const life = one(lifetimes, drawn.how >> 1);
    const now = world.now();
    const inTime = !life || now + life <= endOf(maker);
    const expected = makingForSite(model, maker, { kind, site, access, now, inTime });
    const sent = { ...usual, ...(kind === 'git' ? { access } : {}), ...withLife(life) };
    const answer = await world.call(maker.secret, 'POST', `/v1/sites/${world.sites[site]}/${path}`, sent);
    const label = `${kind} ${model.things.length}`;
    const said = `${maker.label} makes ${label} of site ${site}, ${access}, life ${life}: ${answer.status}`;
    if (compare(answer, said, expected)) {
      const { body } = answer;
      const made = { kind, label, id: body.id, secret: secretOf(body), account: maker.account, maker, site };
      const more = { stay: model.departures, write: access === 'write', ended: false };
      model.things.push({ ...made, ...more, expiresAt: Date.parse(body.expires_at) });
    }
    return said;
  };
}

export async function signIn({ world, model }: Run, { by }: Drawn): Promise<string> {
  const account = by % 2;
  const { id, email } = world.accounts[account] as World['accounts'][number];
  const secret = newSecret('frl');
  const em = world.deps.em();
  const times = { createdAt: world.clock.now(), expiresAt: new Date(world.now() + minuteMs) };
  const hashes = { hash: hashSecret(secret), browserHash: hashSecret(email), codeHash: hashSecret(id) };
  em.create(SigninLink, { id: newId('link'), email, network: null, endedAt: null, ...hashes, ...times });
  await em.flush();
  const signed = await useLink(world.deps.em(), world.deps, secret).catch(() => null);
  const label = `session ${model.things.length}`;
  const said = `account ${account} signs in as ${label}: ${signed?.outcome}`;
  expect(signed?.outcome === 'signed_in', said).toBe(!isBlocked(model, account));
  if (signed?.outcome === 'signed_in') {
    const { session, expiresAt } = signed;
    const made = { kind: 'session', label, id: label, secret: session, account, ended: false } as const;
    model.things.push({ ...made, expiresAt: expiresAt.getTime() });
  }
  return said;
}

export type Tokens = { access_token: string; refresh_token: string; expires_in: number };

export async function connect({ world, model }: Run, drawn: Drawn): Promise<string> {
  const { client, proof } = world;
  const account = drawn.by % 2;
  const scope = scopeFrom(drawn);
  const em = world.deps.em();
  const code = newSecret('frc');
  em.create(OauthCode, {
    hash: hashSecret(code),
    account: em.getReference(Account, world.accounts[account]?.id ?? ''),
    clientHash: hashSecret(client),
    clientName: 'Chat',
    redirectUri,
    challenge: proof.challenge,
    createdAt: world.clock.now(),
    expiresAt: new Date(world.now() + minuteMs),
    usedAt: null,
    grant: null,
    scope: {
      ...scope,
      payouts: false,
      sites: scope.sites === 'all' ? 'all' : scope.sites.map((site) => world.sites[site] ?? ''),
    },
  });
  await em.flush();
  const grant = { grant_type: 'authorization_code', code, code_verifier: proof.verifier, redirect_uri: redirectUri };
  const { status, text } = await world.form('/oauth/token', { client_id: client, ...grant });
  const label = `client ${model.things.length}`;
  const said = `account ${account} connects ${label} for ${JSON.stringify(scope)}: ${status}`;
  expect(status === 200, `${said} ${text}`).toBe(!isBlocked(model, account));
  if (status !== 200) return said;
  const { access_token: secret, refresh_token: refresh }: Tokens = JSON.parse(text);
  const { body } = await world.call(secret, 'GET', '/v1/tokens');
  const { id, expires_at } = body.items.find(({ current }: { current: boolean }) => current);
  const expiresAt = Date.parse(expires_at);
  const renewable = { secret: refresh, expiresAt: expiresAt - hourMs + 29 * dayMs };
  model.things.push({ kind: 'client', label, id, secret, account, scope, expiresAt, refresh: renewable, ended: false });
  return said;
}
