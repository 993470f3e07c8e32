/** One site as an archive, out of this installation and into another: see docs/backups.md. */
import { resolve } from 'node:path';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { importSite } from '#operator/exports/reader.ts';
import { command } from './command.ts';

export const exportCommands = {
  'site export': command({
    about:
      'Writes a site to one archive: repositories, the live version, forms, timetable, comments, and what visitors sent and booked (--without-visitors leaves that out). Not in it: people, tokens, money, domains, drafts as they are shown.',
    needs: ['site', 'into'],
    takes: ['without-visitors'],
    run: ({ config, clock }, { site, into, 'without-visitors': without }) =>
      exportSite({ config, clock }, { siteId: site, into: resolve(into), withVisitors: without === undefined }),
  }),
  'site import': command({
    about:
      'Takes a site in from an archive, for an account, under the ids it had: pages go on leading to its forms and bookings. --name where its own is taken.',
    needs: ['from', 'account'],
    takes: ['name'],
    run: ({ config, clock }, { from, account, name }) =>
      importSite({ config, clock }, { archive: resolve(from), accountId: account, name }),
  }),
};
