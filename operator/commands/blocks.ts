/** Commands that block abusive accounts, sites, domains and sketches. */
import { blockSketch } from '#api/sketches/rules.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { blockDomain, unblockDomain } from '#db/domains/blocks.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { namedAccount } from './accounts.ts';
import { command } from './command.ts';

export const blockCommands = {
  'account block': command({
    about:
      'Blocks an account and everything it owns, and notifies its owner of the reason. Requires either --account or --email.',
    needs: ['reason'],
    takes: ['account', 'email'],
    async run({ em, ...deps }, { reason, ...which }) {
      const { id } = await namedAccount(em, 'account block', which);
      const { email, blockedAt } = await blockAccount(em, deps, id, reason);
      return { account_id: id, email, blocked_at: blockedAt };
    },
  }),
  'account unblock': command({
    about: 'Unblocks an account. Requires either --account or --email.',
    needs: [],
    takes: ['account', 'email'],
    async run({ em, ...deps }, which) {
      const { id } = await namedAccount(em, 'account unblock', which);
      const { email } = await unblockAccount(em, deps, id);
      return { account_id: id, email, blocked_at: null };
    },
  }),
  'site block': command({
    about: 'Blocks a site and its previews (HTTP status 451), and notifies the site’s owner of the reason.',
    needs: ['site', 'reason'],
    async run({ em, clock }, { site, reason }) {
      const { id, name, blockedAt } = await blockSite(em, clock, site, reason);
      return { site_id: id, name, blocked_at: blockedAt };
    },
  }),
  'site unblock': command({
    about: 'Unblocks a site.',
    needs: ['site'],
    async run({ em, clock }, { site }) {
      const { id, name } = await unblockSite(em, clock, site);
      return { site_id: id, name, blocked_at: null };
    },
  }),
  'sketch stop': command({
    about: 'Permanently removes a sketch from all its hosts. --sketch is its id or the reported address.',
    needs: ['sketch'],
    async run({ em, clock }, { sketch }) {
      const { id, account, title, removedAt } = await blockSketch(em, { clock }, sketch);
      return { sketch_id: id, account_id: account.id, title, removed_at: removedAt };
    },
  }),
  'domain block': command({
    about: 'Blocks a domain immediately, and notifies its owner of the reason.',
    needs: ['domain', 'reason'],
    async run({ em, clock }, { domain, reason }) {
      const { id, name, status } = await blockDomain(em, clock, domain, reason);
      return { domain_id: id, name, status };
    },
  }),
  'domain unblock': command({
    about: 'Unblocks a domain and checks it immediately.',
    needs: ['domain'],
    async run({ em, clock }, { domain }) {
      const { id, name, status } = await unblockDomain(em, clock, domain);
      return { domain_id: id, name, status };
    },
  }),
};
