/** Accounts, sites, domains and sketches that a person has stopped for what was done with them. */
import { blockSketch } from '#api/sketches/rules.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { blockDomain, unblockDomain } from '#db/domains/transitions.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { namedAccount } from './accounts.ts';
import { command } from './command.ts';

export const blockCommands = {
  'account block': command({
    about: 'Stops an account with all that is its own, and tells its owner the reason. Say --account or --email.',
    needs: ['reason'],
    takes: ['account', 'email'],
    async run({ em, ...deps }, { reason, ...which }) {
      const { id } = await namedAccount(em, 'account block', which);
      const { email, blockedAt } = await blockAccount(em, deps, id, reason);
      return { account_id: id, email, blocked_at: blockedAt };
    },
  }),
  'account unblock': command({
    about: 'Lets a blocked account go on, as it was. Say --account or --email.',
    needs: [],
    takes: ['account', 'email'],
    async run({ em, ...deps }, which) {
      const { id } = await namedAccount(em, 'account unblock', which);
      const { email } = await unblockAccount(em, deps, id);
      return { account_id: id, email, blocked_at: null };
    },
  }),
  'site block': command({
    about: 'Takes a site off the web (451) with its previews, and tells its owner the reason.',
    needs: ['site', 'reason'],
    async run({ em, clock }, { site, reason }) {
      const { id, name, blockedAt } = await blockSite(em, clock, site, reason);
      return { site_id: id, name, blocked_at: blockedAt };
    },
  }),
  'site unblock': command({
    about: 'Puts a blocked site back on the web, as it was.',
    needs: ['site'],
    async run({ em }, { site }) {
      const { id, name } = await unblockSite(em, site);
      return { site_id: id, name, blocked_at: null };
    },
  }),
  'sketch stop': command({
    about:
      'Takes a sketch down for good, on all its hosts. Name it by its id, or by the address that somebody reported.',
    needs: ['sketch'],
    async run({ em, clock }, { sketch }) {
      const { id, account, title, removedAt } = await blockSketch(em, { clock }, sketch);
      return { sketch_id: id, account_id: account.id, title, removed_at: removedAt };
    },
  }),
  'domain block': command({
    about: 'Stops a domain at once, and tells its owner the reason.',
    needs: ['domain', 'reason'],
    async run({ em, clock }, { domain, reason }) {
      const { id, name, status } = await blockDomain(em, clock, domain, reason);
      return { domain_id: id, name, status };
    },
  }),
  'domain unblock': command({
    about: 'Lets a blocked domain go on: it is looked at anew at once.',
    needs: ['domain'],
    async run({ em, clock }, { domain }) {
      const { id, name, status } = await unblockDomain(em, clock, domain);
      return { domain_id: id, name, status };
    },
  }),
};
