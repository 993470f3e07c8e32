/**
 * The rows of an imported site. A site that was purged here has left its row and its receipts: calendars, bookings and
 * payments. Its archive gives them back what the purge took, and changes no receipt.
 */

import type pg from 'pg';
import { ExportFault, type RowTable, rowSchemas, type SiteDocument, siteColumns } from '#api/exports/document.ts';
import { limitReachedMessage } from '#api/plan-limits.ts';
import { subscriptionsSql } from '#db/accounts/account-sql.ts';
import { enqueueStart } from '#db/resume-workflows.ts';
import { countsSql } from '#db/sites/transitions.ts';
import { planLimitsOf } from '#rules/plan-limits.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Deps } from '#runtime/deps.ts';
import { refused } from './archive-reader.ts';

/** Throws ExportFault if an id, the booking address or the name is already in use here. Returns the account's plans. */
export async function requireNew(
  client: pg.ClientBase,
  clock: Clock,
  { document: { site, live, rows }, accountId }: Taken,
): Promise<string | null> {
  const { rows: accounts } = await client.query(
    `select ${subscriptionsSql('account.id')} as subscriptions from account where id = $1 and purged_at is null`,
    [accountId],
  );
  if (!accounts[0]) throw new ExportFault('There is no account with this id.');
  await requirePurged(client, { siteId: site.id, accountId });
  const { rows: taken } = await client.query('select name from site where id <> $1 and (public_id = $2 or name = $3)', [
    site.id,
    site.public_id,
    site.name,
  ]);
  if (taken.some(({ name }) => name === site.name))
    throw new ExportFault(`There is already a site called ${site.name}. Choose another name with --name.`);
  if (taken.length > 0) throw known('site');
  const { rows: kept } = await client.query(
    'select 1 from former_name where name = $1 and ended_at is null and until > $2',
    [site.name, clock.now()],
  );
  if (kept.length > 0)
    throw new ExportFault(`Another site was called ${site.name} until recently. Choose another name with --name.`);
  for (const table of Object.keys(rowSchemas) as RowTable[]) {
    // The key of a timetable is its site; it is not here, or a receipt.
    if (table === 'bookable') continue;
    const ids = rows[table].map(({ id }) => id);
    const [elsewhere, values] = table in returned ? ['and site_id <> $2', [ids, site.id]] : ['', [ids]];
    const { rows: there } = await client.query(
      `select 1 from ${table} where id = any($1) ${elsewhere} limit 1`,
      values,
    );
    if (there.length > 0) throw known(table);
  }
  const { rows: versions } = await client.query('select 1 from deployment where id = $1', [live?.id]);
  if (versions.length > 0) throw known('deployment');
  return accounts[0].subscriptions;
}

/** Throws ExportFault if the site is here, unless it was purged and belonged to this account. Locks its row. */
async function requirePurged(
  client: pg.ClientBase,
  { siteId, accountId }: { siteId: string; accountId: string },
): Promise<void> {
  const { rows } = await client.query(
    'select account_id, purged_at, delete_at from site where id = $1 for no key update',
    [siteId],
  );
  if (!rows[0]) return;
  const { account_id, purged_at, delete_at } = rows[0];
  if (!purged_at && delete_at)
    throw new ExportFault('This site is being deleted. Its owner can restore it; nothing has been changed.');
  if (!purged_at) throw new ExportFault('This site already exists. Nothing has been changed.');
  if (delete_at) throw new ExportFault('This site is still being removed. Import it again when that has ended.');
  if (account_id === accountId) return;
  throw new ExportFault(
    `This site was deleted here, and its payments and bookings belong to ${account_id}. Import it into that account.`,
  );
}

const known = (table: string) => refused(`a row of ${table} already exists`);

/** `siteUrl` is the site's address in this installation. */
export type Taken = { document: SiteDocument; accountId: string; siteUrl: string };
/** The stored files. */
export type Put = {
  manifestSha256: string | null;
  redirectsSha256: string | null;
  fileCount: number;
  totalBytes: number;
};

/** The owner column that the import sets in each table. */
const owned: Record<RowTable, 'site_id' | 'account_id' | undefined> = {
  form: 'site_id',
  submission: undefined,
  bookable: 'site_id',
  calendar: 'site_id',
  booking: 'site_id',
  comment_thread: 'site_id',
  comment_message: 'account_id',
  asset: 'site_id',
};

/** What happens to a receipt that is here: a timetable and its calendars begin again, a booking gets back its visitor's words. */
const returned: Partial<Record<RowTable, { key: string; columns: readonly string[] }>> = {
  bookable: { key: 'site_id', columns: Object.keys(rowSchemas.bookable.shape) },
  calendar: { key: 'id', columns: Object.keys(rowSchemas.calendar.shape) },
  booking: { key: 'id', columns: ['visitor_name', 'intake'] },
};

function onReceipt(table: RowTable): string {
  const receipt = returned[table];
  if (!receipt) return '';
  const set = receipt.columns.map((name) => `"${name}" = excluded."${name}"`).join(', ');
  return `on conflict (${receipt.key}) do update set ${set}`;
}

/** Inserts the rows in the client's transaction. Throws ExportFault if they violate a constraint. */
export async function writeRows(
  client: pg.ClientBase,
  deps: Pick<Deps, 'clock' | 'config'>,
  taken: Taken,
): Promise<void> {
  try {
    await requireSiteLimit(client, deps, taken);
    await writeSite(client, deps.clock, taken);
    const { rows, site } = taken.document;
    for (const [table, owner] of Object.entries(owned) as [RowTable, (typeof owned)[RowTable]][]) {
      const columns = Object.keys(rowSchemas[table].shape).map((name) => `"${name}"`);
      const whose = owner === 'site_id' ? site.id : taken.accountId;
      await client.query(
        `insert into ${table} (${[...columns, ...(owner ? [owner] : [])].join(', ')})
         select ${columns.join(', ')} ${owner ? ', $2' : ''} from jsonb_populate_recordset(null::${table}, $1)
         ${onReceipt(table)}`,
        [JSON.stringify(rows[table]), ...(owner ? [whose] : [])],
      );
    }
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    // Violated constraints and invalid values.
    if (/^2[23]/.test(code)) throw refused('its rows are inconsistent, or some of them already exist');
    throw error;
  }
}

/** Enforces the limit on active sites. Locks the account until the transaction ends. */
async function requireSiteLimit(
  client: pg.ClientBase,
  deps: Pick<Deps, 'clock' | 'config'>,
  { document, accountId }: Taken,
): Promise<void> {
  if (document.site.archived_at) return;
  const { rows: accounts } = await client.query(
    `select ${subscriptionsSql('account.id')} as subscriptions from account where id = $1 for no key update`,
    [accountId],
  );
  const planLimits = planLimitsOf(deps.config, accounts[0], deps.clock.now());
  const { rows: counted } = await client.query(
    `select count(*)::int as sites from site where account_id = $1 and ${countsSql}`,
    [accountId],
  );
  if (counted[0].sites < planLimits.limits.sites) return;
  const remedy = deps.config.billing
    ? 'Archive one of the account’s sites, or grant the account a larger plan with plan grant.'
    : 'Archive one of the account’s sites.';
  throw new ExportFault(`${limitReachedMessage(planLimits, { limit: 'sites', what: 'sites' })} ${remedy}`);
}

async function writeSite(client: pg.ClientBase, clock: Clock, taken: Taken): Promise<void> {
  const { document, accountId, siteUrl } = taken;
  const { site, live } = document;
  const names = Object.keys(siteColumns);
  const columns = names.join(', ');
  const again = names.map((name) => `${name} = excluded.${name}`).join(', ');
  await client.query(
    `insert into site (account_id, status, ${columns}) select $1, 'active', ${columns} from jsonb_populate_record(null::site, $2)
     on conflict (id) do update set ${again}, status = 'active', archived_at = null, purged_at = null`,
    [accountId, JSON.stringify(site)],
  );
  await client.query(
    `update site set status = case when $2::timestamptz is null then status else 'archived' end, archived_at = $2,
       blocked_at = coalesce(blocked_at, $3), block_reason = coalesce(block_reason, $4) where id = $1`,
    [site.id, site.archived_at ?? null, site.blocked?.at ?? null, site.blocked?.reason ?? null],
  );
  if (!live) return;
  const { id, manifest, source_commit: source, content_commit: content, live_at: at } = live;
  await client.query(
    `insert into deployment (id, site_id, number, kind, status, ticket, source_commit, content_commit, site_url, manifest_sha256,
       created_by_id, created_at, finished_at, live_at, live_spans)
     select $1, $2, last_number + 1, $3, 'live', last_ticket + 1, $4, $5, $6, $7, $8, $9, $10, $10,
       jsonb_build_array(jsonb_build_object('from', $10::timestamptz, 'to', null)) from site where id = $2`,
    [id, site.id, source ? 'site' : 'upload', source, content, siteUrl, manifest, accountId, at, clock.now()],
  );
  await client.query(
    `update site set live_deployment_id = $2, live_ticket = last_ticket + 1, last_ticket = last_ticket + 1,
       last_number = last_number + 1 where id = $1`,
    [site.id, id],
  );
}

/** In the same transaction, after the files are stored. */
export async function recordFiles(client: pg.ClientBase, { site, live }: SiteDocument, put: Put): Promise<void> {
  await client.query('update site set redirects_sha256 = $2 where id = $1', [site.id, put.redirectsSha256]);
  await client.query(
    'update deployment set manifest_sha256 = $2, file_count = $3, total_bytes = $4 where id = $1 and $2::text is not null',
    [live?.id, put.manifestSha256, put.fileCount, put.totalBytes],
  );
}

/** In the same transaction: this installation has not scanned the live version yet. */
export async function startScan(client: pg.ClientBase, clock: Clock, { live }: SiteDocument): Promise<void> {
  if (!live) return;
  await enqueueStart(client, clock, 'scanContent', { id: live.id }, { summary: 'Scan published files for abuse' });
}
