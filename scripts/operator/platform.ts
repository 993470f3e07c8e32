/** The platform's own parts: its database, its keys, its store, its outbox, and what agents say of it. */
import { listFeedback } from '../../api/feedback/rules.ts';
import { OutboxEntry } from '../../db/entities/outbox-entry.ts';
import { migrate } from '../../db/migrate.ts';
import { countSealed, reseal } from '../../db/sealed.ts';
import { errors } from '../../errors.ts';
import { openStore } from '../../providers/store/open.ts';
import { command } from './command.ts';

const listed = 200;

export const platformCommands = {
  'feedback list': command({
    about: 'What agents have told us of the platform, the oldest first.',
    needs: [],
    takes: ['since'],
    async run({ em }, { since = '1970-01-01T00:00:00Z' }) {
      if (Number.isNaN(Date.parse(since))) throw errors.invalid_since('--since is a time, as 2026-01-31T12:00:00Z.');
      return { items: await listFeedback(em, new Date(since)) };
    },
  }),
  'outbox list': command({
    about: `The oldest ${listed} messages to the workflow engine that were not sent, and why.`,
    needs: [],
    async run({ em }) {
      const waiting = await em.find(OutboxEntry, { sentAt: null }, { orderBy: { id: 'asc' }, limit: listed });
      return { items: waiting.map(shown) };
    },
  }),
  'outbox replay': command({
    about: 'Sends a message again that was sent. A workflow that runs, or has done its work, takes no harm from it.',
    needs: ['entry'],
    async run({ em }, { entry: id }) {
      const entry = await em.findOne(OutboxEntry, { id });
      if (!entry) throw errors.not_found('There is no such entry: the outbox keeps what was sent for a while only.');
      Object.assign(entry, { sentAt: null, attempts: 0, lastError: null });
      await em.flush();
      return shown(entry);
    },
  }),
  'sealing status': command({
    about: 'How much is sealed under which key.',
    needs: [],
    run: ({ em, config }) => countSealed(em, config.sealing),
  }),
  'sealing reseal': command({
    about: 'Seals everything under the newest key. May be stopped and run again.',
    needs: [],
    run: ({ em, config }) => reseal(em, config.sealing),
  }),
  'store audit': command({
    about: 'Hashes everything that the store holds, and names what is spoilt.',
    needs: [],
    async run({ config }) {
      const spoilt: string[] = [];
      let blobs = 0;
      for await (const { sha256, sound } of openStore(config).audit()) {
        blobs += 1;
        if (!sound) spoilt.push(sha256);
      }
      return { blobs, spoilt };
    },
  }),
  'database migrate': command({
    about: 'Brings the database to the newest schema. Several may run at once.',
    needs: [],
    run: async ({ config }) => ({ ran: await migrate(config.databaseUrl) }),
  }),
};

/** Without what goes to the workflow: only what an operator judges it by. */
const shown = ({ id, kind, workflowId, message, createdAt, sentAt, attempts, lastError }: OutboxEntry) => ({
  id,
  kind,
  workflow_id: workflowId,
  what: message.type ?? message.signal ?? kind,
  created_at: createdAt,
  sent_at: sentAt ?? null,
  attempts,
  last_error: lastError ?? null,
});
