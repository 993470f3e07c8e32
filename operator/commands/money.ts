/** Commands for ledger problems that the check cannot repair. */
import { listFlags, settleFlag } from '#db/payments/ledger.ts';
import { command } from './command.ts';
import { listed, pageBy, rowsToRead } from './listing.ts';

export const moneyCommands = {
  'ledger list': command({
    about: `Lists payment problems that the ledger check cannot repair, with their meaning and how to resolve them, oldest first, ${listed} at a time. --settled also lists settled ones.`,
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
    about:
      'Marks a payment problem as settled after it was resolved outside the platform. --reason says how it was resolved.',
    needs: ['subject', 'reason'],
    async run({ em, clock }, { subject, reason }) {
      const { settledAt } = await settleFlag(em, clock, subject, reason);
      return { subject, settled_at: settledAt };
    },
  }),
};
