/** What the ledger check could not mend, and a person has to see to. */
import { listFlags, settleFlag } from '#db/payments/ledger.ts';
import { command } from './command.ts';
import { listed, pageBy, rowsToRead } from './listing.ts';

export const moneyCommands = {
  'ledger list': command({
    about: `What the ledger check could not mend, what it means and what to do, the oldest first, ${listed} at a time; with --settled those that were settled, too.`,
    needs: [],
    takes: ['settled', 'after'],
    async run({ em }, { settled, after }) {
      const flags = await listFlags(em, { settled: settled !== undefined, after, limit: rowsToRead });
      return pageBy(
        flags,
        (flag) => flag,
        ({ subject }) => subject,
      );
    },
  }),
  'ledger settle': command({
    about: 'Ends a flag that a person has seen to where the check cannot look. The reason says what was done about it.',
    needs: ['subject', 'reason'],
    async run({ em, clock }, { subject, reason }) {
      const { settledAt } = await settleFlag(em, clock, subject, reason);
      return { subject, settled_at: settledAt };
    },
  }),
};
