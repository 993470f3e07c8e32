/** What can happen to access: each step calls the product, tells the model, and compares their verdicts. */
import { expect } from 'vitest';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { sweepOauth } from '#db/auth/oauth-expiry.ts';
import { sweepSignIns } from '#db/auth/signin-expiry.ts';
import { sweepTokens } from '#db/auth/token-expiry.ts';
import { revokeAllAccess } from '#db/auth/token-revocation.ts';
import { settleDeletion } from '#db/sites/deletion.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';
import { callerFrom, type Drawn, one, type Run, type Step, siteFrom } from './endings-draws.ts';
import { connect, makeForSite, makeToken, signIn, type Tokens } from './endings-making.ts';
import { endOf, isBlocked, isMember, lives, type Model, stayed, type Thing, works } from './endings-model.ts';
import { closing, compare, leaving, revoking, rotating, type Verdict } from './endings-verdicts.ts';

/** None is a lifetime, nor a sum of some. */
const pauses = [20_000, 11 * minuteMs, 61 * minuteMs, 25 * hourMs, 8 * dayMs + hourMs, 32 * dayMs];

async function rotate({ world, model }: Run, { by, what }: Drawn): Promise<string> {
  const caller = callerFrom({ world, model }, by);
  const thing = what % 2 === 0 ? caller : callerFrom({ world, model }, what);
  const now = world.now();
  const expected = [rotating(model, caller, thing, now), ...forgotten(thing, now)];
  const answer = await world.call(caller.secret, 'POST', `/v1/tokens/${thing.id}/rotate`);
  const said = `${caller.label} rotates ${thing.label}: ${answer.status}`;
  if (!compare(answer, said, ...expected)) return said;
  model.replaced.push(thing.secret);
  thing.secret = answer.body.access_token;
  return said;
}

const endPaths = {
  token: 'tokens',
  client: 'tokens',
  git: 'git-credentials',
  upload: 'uploads',
  review: 'review-links',
};

/** What has ended may be gone: a token after 30 days, a git credential at once. */
function forgotten(thing: Thing, now: number, model?: Model): Verdict[] {
  const isGone = model && thing.kind === 'git' && !stayed(model, thing);
  return lives(thing, now) && !isGone ? [] : ['not_found'];
}

/** Whether the owner's page shows a button that ends it. */
function isShown(model: Model, { account }: Thing, thing: Thing, now: number): boolean {
  if (!lives(thing, now)) return false;
  if (thing.scope) return thing.account === account;
  if (thing.kind !== 'git' || !stayed(model, thing) || !isMember(model, account, thing.site ?? 0)) return false;
  return thing.account === account || model.sites[thing.site ?? 0]?.owner === account;
}

/** Ends something by the call for it. */
async function revoke({ world, model }: Run, { by, what }: Drawn): Promise<string> {
  const caller = callerFrom({ world, model }, by);
  const thing = one(
    model.things.filter(({ kind }) => kind !== 'session'),
    what,
  );
  const path = endPaths[thing.kind as keyof typeof endPaths];
  const now = world.now();
  const expected = [revoking(model, caller, thing, now), ...forgotten(thing, now, model)];
  const answer = await world.call(caller.secret, 'DELETE', `/v1/${path}/${thing.id}`);
  const said = `${caller.label} ends ${thing.label}: ${answer.status}`;
  if (compare(answer, said, ...expected)) thing.ended = true;
  return said;
}

/** A signed-in person presses a button of their page: Sign out, or Revoke. */
async function press(run: Run, { by, what, how }: Drawn): Promise<string> {
  const { world, model } = run;
  const sessions = model.things.filter(({ kind }) => kind === 'session');
  if (sessions.length === 0) return await signIn(run, { by, what, how });
  const session = one(sessions, by);
  const thing =
    how % 3 === 0
      ? session
      : one(
          model.things.filter(({ kind }) => kind !== 'session'),
          what,
        );
  const path = thing.kind === 'git' ? 'git-credentials' : 'agents';
  const worked = works(model, session, world.now());
  const expected = worked && (thing === session || isShown(model, session, thing, world.now()));
  const pressed = await world.press(session, thing === session ? '/signout' : `/account/${path}/${thing.id}/revoke`);
  const said = `${session.label} ends ${thing.label}: ${pressed}`;
  expect(pressed, said).toBe(expected);
  if (pressed) thing.ended = true;
  return said;
}

/** A client renews its access, repeats that, or gives it back. */
async function renew(run: Run, drawn: Drawn): Promise<string> {
  const { world, model } = run;
  const clients = model.things.filter(({ kind }) => kind === 'client');
  if (clients.length === 0) return await connect(run, drawn);
  const thing = one(clients, drawn.what);
  const { client_id, refresh, refreshed } = { client_id: world.client, ...thing };
  const now = world.now();
  if (drawn.how % 5 === 0) {
    const { status } = await world.form('/oauth/revoke', { client_id, token: refresh?.secret ?? '' });
    // A refresh token that was swept names nothing, and had expired.
    if (status === 200 && endOf(thing) > now) thing.ended = true;
    return `${thing.label} gives its access back: ${status}`;
  }
  const isRepeat = drawn.how % 5 === 1 && refreshed !== undefined;
  const used = isRepeat ? refreshed : refresh;
  const { status, text } = await world.form('/oauth/token', {
    client_id,
    grant_type: 'refresh_token',
    refresh_token: used?.secret ?? '',
  });
  const said = `${thing.label} ${isRepeat ? 'repeats a renewal' : 'renews its access'}: ${status}`;
  const inTime = isRepeat ? now - refreshed.usedAt <= minuteMs : (refresh?.expiresAt ?? 0) > now;
  const isOpen = lives(thing, now) && !isBlocked(model, thing.account);
  expect(status === 200, `${said} ${text}`).toBe(isOpen && inTime);
  if (isRepeat) {
    if (isOpen && !inTime) thing.ended = true;
  } else if (status === 200) {
    const renewed: Tokens = JSON.parse(text);
    model.replaced.push(thing.secret);
    thing.refreshed = { secret: used?.secret ?? '', expiresAt: used?.expiresAt ?? 0, usedAt: now };
    thing.secret = renewed.access_token;
    thing.refresh = { secret: renewed.refresh_token, expiresAt: world.now() + 29 * dayMs };
    thing.expiresAt = world.now() + hourMs;
  }
  return said;
}

/** The guest leaves, is removed, or comes back with an empty hand. */
async function changeMembership({ world, model }: Run, { by, how }: Drawn): Promise<string> {
  const [site, guest] = [world.sites[0], world.accounts[1]?.id];
  if (!model.joined) {
    const row = 'insert into collaborator (site_id, account_id, since) values (?, ?, ?)';
    await world.deps.em().execute(row, [site, guest, world.clock.now()]);
    model.joined = true;
    return 'account 1 joins site 0 again';
  }
  const caller = callerFrom({ world, model }, by);
  const path = how % 2 === 0 ? 'me' : guest;
  const expected = leaving(model, caller, world.now(), path === 'me');
  const answer = await world.call(caller.secret, 'DELETE', `/v1/sites/${site}/collaborators/${path}`);
  const said = `${caller.label} ends the stay of ${path}: ${answer.status}`;
  if (compare(answer, said, expected)) Object.assign(model, { joined: false, departures: model.departures + 1 });
  return said;
}

/** The owner archives or deletes a site, or takes that back. */
async function closeSite({ world, model }: Run, drawn: Drawn): Promise<string> {
  const at = siteFrom(drawn);
  const site = model.sites[at] as Model['sites'][number];
  const caller = callerFrom({ world, model }, drawn.by, drawn.how % 8 < 6 ? site.owner : undefined);
  const deletes = site.archived && !site.deleteAt && drawn.how % 4 > 0;
  const verb = site.archived ? 'unarchive' : 'archive';
  const [method, path] = deletes ? ['DELETE', '?confirm=true'] : ['POST', `/${site.deleteAt ? 'restore-site' : verb}`];
  const need = deletes || site.deleteAt ? { account: true } : ({ access: 'write' } as const);
  const expected = closing(model, caller, { site: at, need, now: world.now() });
  const answer = await world.call(caller.secret, method, `/v1/sites/${world.sites[at]}${path}`);
  const said = `${caller.label} sends ${method} ${path} to site ${at}: ${answer.status}`;
  if (!compare(answer, said, expected)) return said;
  if (deletes) site.deleteAt = Date.parse(answer.body.delete_at);
  else if (site.deleteAt) site.deleteAt = undefined;
  else site.archived = !site.archived;
  for (const thing of model.things) if (thing.kind === 'review' && thing.site === at) thing.ended = true;
  return said;
}

/** The owner of an account undoes a change of its address, which ends all access. */
async function endAll({ world, model }: Run, { by }: Drawn): Promise<string> {
  const account = by % 2;
  await world.deps.em().transactional(async (tx) => {
    await revokeAllAccess(tx, world.accounts[account]?.id ?? '', world.clock.now());
  });
  for (const thing of model.things) if (thing.account === account) thing.ended = true;
  return `all access to account ${account} ends`;
}

async function operate({ world, model }: Run, { what, how }: Drawn): Promise<string> {
  const em = world.deps.em();
  if (how % 2 === 0) {
    const at = what % 2;
    const account = model.accounts[at] as Model['accounts'][number];
    const id = world.accounts[at]?.id ?? '';
    await (account.blocked ? unblockAccount(em, world.deps, id) : blockAccount(em, world.deps, id, 'Abuse.'));
    account.blocked = !account.blocked;
    return `the operator ${account.blocked ? 'blocks' : 'unblocks'} account ${at}`;
  }
  const at = what % 3;
  const site = model.sites[at] as Model['sites'][number];
  const id = world.sites[at] ?? '';
  await (site.blocked ? unblockSite(em, world.clock, id) : blockSite(em, world.clock, id, 'Abuse.'));
  site.blocked = !site.blocked;
  return `the operator ${site.blocked ? 'blocks' : 'unblocks'} site ${at}`;
}

async function pass({ world, model }: Run, { what, how }: Drawn): Promise<string> {
  const ms = one(pauses, what);
  world.skip(ms);
  if (how % 2 === 0) return `${ms / 1000} s pass`;
  for (const sweep of [sweepTokens, sweepOauth, sweepSignIns]) await sweep(world.deps.em(), world.clock.now());
  for (const [at, site] of model.sites.entries()) {
    if ((await settleDeletion(world.deps.em(), world.clock, world.sites[at] ?? '')).status === 'purging')
      site.purged = true;
  }
  for (const thing of model.things) {
    if (thing.refreshed && thing.refreshed.expiresAt < world.now()) delete thing.refreshed;
  }
  return `${ms / 1000} s pass, and old rows are deleted`;
}

export const steps = {
  makeToken,
  makeGit: makeForSite('git'),
  makeUpload: makeForSite('upload'),
  makeReview: makeForSite('review'),
  rotate,
  revoke,
  signIn,
  press,
  connect,
  renew,
  changeMembership,
  closeSite,
  endAll,
  operate,
  pass,
} satisfies Record<string, Step>;
