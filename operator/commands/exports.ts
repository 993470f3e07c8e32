/** Export and import of one site as an archive: see docs/backups.md. */
import { resolve } from 'node:path';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { importSite } from '#operator/exports/reader.ts';
import { command } from './command.ts';

export const exportCommands = {
  'site export': command({
    about:
      'Exports a site to a single archive: repositories, the live version, forms, the timetable, comments, and visitors’ enquiries and bookings (unless --without-visitors is given). People, tokens, payments, domains and built drafts are not included.',
    needs: ['site', 'into'],
    takes: ['without-visitors'],
    run: ({ config, clock }, { site, into, 'without-visitors': without }) =>
      exportSite({ config, clock }, { siteId: site, into: resolve(into), withVisitors: without === undefined }),
  }),
  'site import': command({
    about:
      'Imports a site from an archive into an account. Ids stay the same, so links to the site’s forms and bookings keep working. Use --name if the site’s name is already taken.',
    needs: ['from', 'account'],
    takes: ['name'],
    run: ({ config, clock }, { from, account, name }) =>
      importSite({ config, clock }, { archive: resolve(from), accountId: account, name }),
  }),
};
