/** What scans of published files found, and a person should look at. */
import { dismissFlag, listFlags, showFlag } from '#db/scanning/transitions.ts';
import { command } from './command.ts';
import { listed, pageOf, rowsToRead } from './listing.ts';

export const flagCommands = {
  'flags list': command({
    about: `Files that a scan found suspicious, the oldest first, ${listed} at a time; with --all those that were dismissed, too.`,
    needs: [],
    takes: ['site', 'all', 'after'],
    async run({ em }, { site, all, after }) {
      return pageOf(await listFlags(em, { all: all !== undefined, site, after, limit: rowsToRead }), (flag) => flag);
    },
  }),
  'flags show': command({
    about: 'All that is known of one.',
    needs: ['flag'],
    run: async ({ em }, { flag }) => await showFlag(em, flag),
  }),
  'flags dismiss': command({
    about: 'Lets the file be as it is: the same bytes are not flagged again.',
    needs: ['flag', 'reason'],
    async run({ em, clock }, { flag, reason }) {
      const { id, dismissedAt } = await dismissFlag(em, clock, flag, reason);
      return { id, dismissed_at: dismissedAt };
    },
  }),
};
