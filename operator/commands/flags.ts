/** Commands for suspicious published files that an operator should review. */
import { dismissFlag, listFlags, showFlag } from '#db/scanning/transitions.ts';
import { command } from './command.ts';
import { listed, pageOf, rowsToRead } from './listing.ts';

export const flagCommands = {
  'flags list': command({
    about: `Lists files that a scan flagged as suspicious, oldest first, ${listed} at a time. --all also lists dismissed ones.`,
    needs: [],
    takes: ['site', 'all', 'after'],
    async run({ em }, { site, all, after }) {
      return pageOf(await listFlags(em, { all: all !== undefined, site, after, limit: rowsToRead }), (flag) => flag);
    },
  }),
  'flags show': command({
    about: 'Shows all details of one flag.',
    needs: ['flag'],
    run: async ({ em }, { flag }) => await showFlag(em, flag),
  }),
  'flags dismiss': command({
    about: 'Dismisses a flag. The same file contents will not be flagged again.',
    needs: ['flag', 'reason'],
    async run({ em, clock }, { flag, reason }) {
      const { id, dismissedAt } = await dismissFlag(em, clock, flag, reason);
      return { id, dismissed_at: dismissedAt };
    },
  }),
};
