/** The names of sites: which are free, and renaming. */

import type { EntityManager } from '#db/orm.ts';
import { formerNamesOf, keeperOf, lockNames, recordRename, renamesSince } from '#db/sites/former-names.ts';
import { Site } from '#db/sites/site.ts';
import { formerNameMs, period } from '#rules/periods.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** Names that no site may have: hosts that people, mail and certificates expect of a domain's owner, and the platform's own. */
const reserved = new Set(
  `abuse account accounts acme admin administrator api app apps assets auth autoconfig autodiscover billing blog book bookings
  cdn ci connect console dashboard demo dev dns docs domains edge email files forms frontage ftp git graphql health help
  hostmaster imap invite internal localhost login mail mailer mcp media metrics mta-sts news ns ns1 ns2 ns3 ns4 oauth pay payments
  pop pop3 postmaster preview previews proxy registry root secure security shop signin signup sites sketch sketches smtp ssh ssl
  staging static stats status store support sysadmin system test tls token upload uploads users vpn webmail webmaster whois wpad www
  www1 www2`.split(/\s+/),
);

export function isReservedName(name: string): boolean {
  return reserved.has(name);
}

type Naming = Pick<Deps, 'clock' | 'config'>;

/** A site keeps at most this many former names at a time. */
const formerNamesMax = 3;
/** Of one site. Scaled by `FRONTAGE_RATE_SCALE`. */
const renamesPerDay = 5;

/**
 * Throws `invalid_name` if the name is reserved, belongs to a site, or belonged to one in the last 90 days. The site
 * `own` may take its former name back.
 */
export async function requireFreeName(em: EntityManager, now: Date, name: string, own?: string): Promise<void> {
  // A rename frees a name and records it as a former one in the same transaction, so this order of reading misses none.
  const isTaken = isReservedName(name) || (await em.count(Site, { name })) > 0;
  const keeper = isTaken ? undefined : await keeperOf(em, now, name);
  if (isTaken || (keeper !== undefined && keeper !== own)) throw nameTaken(name);
}

/** Like `requireFreeName`, and keeps the name from others until the transaction ends. */
export async function claimFreeName(tx: EntityManager, now: Date, name: string): Promise<void> {
  await lockNames(tx, [name]);
  await requireFreeName(tx, now, name);
}

/**
 * Renames the site, whose row is locked. The former name redirects for 90 days. Throws `invalid_name`, `rate_limited`.
 */
export async function renameSite(
  tx: EntityManager,
  { clock, config }: Naming,
  site: Site,
  name: string,
): Promise<void> {
  const now = clock.now();
  await lockNames(tx, [site.name, name]);
  await requireFreeName(tx, now, name, site.id);
  await requireFewRenames(tx, now, site, Math.ceil(renamesPerDay * config.rateScale));
  const kept = (await formerNamesOf(tx, now, site.id)).filter((former) => former.name !== name);
  const [first] = kept;
  if (first && kept.length >= formerNamesMax) throw tooManyFormerNames(site, first.until, now);
  await recordRename(tx, now, site.id, { from: site.name, to: name });
  site.name = name;
}

async function requireFewRenames(tx: EntityManager, now: Date, site: Site, limit: number): Promise<void> {
  const oldest = (await renamesSince(tx, site.id, new Date(now.getTime() - dayMs)))[limit - 1];
  if (!oldest) return;
  throw tooOften(
    `The site ${site.name} has been renamed ${limit} times in the last 24 hours.`,
    oldest.getTime() + dayMs,
    now,
  );
}

function tooManyFormerNames(site: Site, until: Date, now: Date): AppError {
  const message = `The site ${site.name} has ${formerNamesMax} former names, which redirect to it and are kept for ${period(formerNameMs)} each.`;
  return tooOften(message, until.getTime(), now, ' Renaming the site back to one of them works now.');
}

function tooOften(message: string, freeAt: number, now: Date, otherwise = ''): AppError {
  const when = new Date(freeAt).toISOString();
  return errors.rate_limited(message, {
    nextAction: `Send the same call again after ${when}.${otherwise}`,
    retryAfterSeconds: Math.max(1, Math.ceil((freeAt - now.getTime()) / 1000)),
  });
}

export function nameTaken(name?: string): AppError {
  const which = name === undefined ? 'This name' : `The name ${name}`;
  return errors.invalid_name(`${which} is already taken or is reserved.`, { nextAction: 'Choose another name.' });
}
