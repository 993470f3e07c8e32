/** Sites and domains that a person has stopped for what was done with them. */
import { blockDomain, unblockDomain } from '../../db/domains.ts';
import { blockSite, unblockSite } from '../../db/sites.ts';
import { command } from './command.ts';

export const blockCommands = {
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
