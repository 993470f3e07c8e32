/**
 * The operator's command, in the environment of the installation:
 *
 *   node scripts/operator.ts account create --email owner@example.com --name 'The owner'
 *
 * opens an account (or takes the one that the address has) and prints it with a new token, once. `account email --account acct_…
 * --email new@example.com` gives an account another address, where no mail can confirm it. `domain block --domain dom_… --reason '…'` stops
 * a domain and tells its owner why, `domain unblock` lets it go on. `plan grant --account acct_… --plan studio --until 2027-01-31` gives an
 * account a plan until a date, `plan end --account acct_…` ends that. `database migrate` brings the database to the newest schema. `sealing status` counts what is sealed under which key, `sealing reseal` seals all of it under the newest.
 * `ledger list` prints what the ledger check could not mend, what it means and what to do (`--settled`: with those that were settled); `ledger
 * settle --subject pi_… --reason '…'` ends one that a person has seen to where the check cannot look.
 * `feedback list` prints what agents have told us of the platform, `--since` a moment. `store audit` re-hashes every blob of the store and names those that are spoilt.
 */
import { parseArgs } from 'node:util';
import { setAddress } from '../api/accounts/address.ts';
import { openAccount } from '../api/accounts/rules.ts';
import { endGrant, grantPlan } from '../api/billing/grants.ts';
import { listFeedback } from '../api/feedback/rules.ts';
import { issueToken } from '../api/tokens/rules.ts';
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { blockDomain, unblockDomain } from '../db/domains.ts';
import { listFlags, settleFlag } from '../db/ledger.ts';
import { migrate } from '../db/migrate.ts';
import { type EntityManager, openOrm } from '../db/orm.ts';
import { countSealed, reseal } from '../db/sealed.ts';
import { AppError } from '../errors.ts';
import { openStore } from '../providers/store/open.ts';

type Options = {
  account?: string | undefined;
  email?: string | undefined;
  name?: string | undefined;
  since?: string | undefined;
  plan?: string | undefined;
  until?: string | undefined;
  domain?: string | undefined;
  reason?: string | undefined;
  subject?: string | undefined;
  settled?: boolean | undefined;
};

const commands: Record<string, (em: EntityManager, options: Options) => Promise<unknown>> = {
  async 'account create'(em, { email, name }) {
    if (!email || !name) throw new Error('account create needs --email and --name.');
    const account = await openAccount(em, systemClock, { email, name });
    const { secret } = await issueToken(em, systemClock, account.id, { name: 'operator' });
    return { account_id: account.id, access_token: secret };
  },
  async 'account email'(em, { account, email }) {
    if (!account || !email) throw new Error('account email needs --account and --email.');
    const { old, account: changed } = await setAddress(em, { clock: systemClock }, account, email);
    return { account_id: changed.id, email: changed.email, old_email: old };
  },
  async 'feedback list'(em, { since = '1970-01-01T00:00:00Z' }) {
    if (Number.isNaN(Date.parse(since))) throw new Error('--since is a time, as 2026-01-31T12:00:00Z.');
    return { items: await listFeedback(em, new Date(since)) };
  },
  'ledger list': async (em, { settled = false }) => ({ items: await listFlags(em, { settled }) }),
  async 'ledger settle'(em, { subject, reason }) {
    if (!subject || !reason) throw new Error('ledger settle needs --subject and --reason, what was done about it.');
    const { settledAt } = await settleFlag(em, systemClock, subject, reason);
    return { subject, settled_at: settledAt };
  },
  'sealing status': (em) => countSealed(em, readConfig().sealing),
  'sealing reseal': (em) => reseal(em, readConfig().sealing),
  async 'domain block'(em, { domain, reason }) {
    if (!domain || !reason)
      throw new Error('domain block needs --domain dom_… and --reason, a sentence for its owner.');
    const { id, name, status } = await blockDomain(em, systemClock, domain, reason);
    return { domain_id: id, name, status };
  },
  async 'domain unblock'(em, { domain }) {
    if (!domain) throw new Error('domain unblock needs --domain dom_….');
    const { id, name, status } = await unblockDomain(em, systemClock, domain);
    return { domain_id: id, name, status };
  },
  async 'plan grant'(em, { account, plan, until }) {
    if (!account || !plan || !until) throw new Error('plan grant needs --account, --plan and --until.');
    const deps = { config: readConfig(), clock: systemClock };
    const granted = await grantPlan(em, deps, { accountId: account, plan, endsAt: new Date(until) });
    return { account_id: account, plan: granted.plan, ends_at: granted.endsAt };
  },
  async 'plan end'(em, { account }) {
    if (!account) throw new Error('plan end needs --account.');
    const { plan } = await endGrant(em, { config: readConfig(), clock: systemClock }, account);
    return { account_id: account, plan };
  },
  'database migrate': async () => ({ ran: await migrate(readConfig().databaseUrl) }),
  async 'store audit'() {
    const spoilt: string[] = [];
    let blobs = 0;
    for await (const { sha256, sound } of openStore(readConfig()).audit()) {
      blobs += 1;
      if (!sound) spoilt.push(sha256);
    }
    return { blobs, spoilt };
  },
};

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      account: { type: 'string' },
      email: { type: 'string' },
      name: { type: 'string' },
      since: { type: 'string' },
      plan: { type: 'string' },
      until: { type: 'string' },
      domain: { type: 'string' },
      reason: { type: 'string' },
      subject: { type: 'string' },
      settled: { type: 'boolean' },
    },
  });
  const command = commands[positionals.join(' ')];
  if (!command) throw new Error(`Commands: ${Object.keys(commands).join(', ')}`);
  const orm = openOrm(readConfig().databaseUrl, { poolMax: 1 });
  try {
    console.log(JSON.stringify(await command(orm.em.fork(), values)));
  } finally {
    await orm.close();
  }
}

main().catch((error: Error) => {
  const code = error instanceof AppError ? `${error.code}: ` : '';
  console.error(`✗ ${code}${error.message}`);
  process.exitCode = 1;
});
