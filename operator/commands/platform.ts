/** The platform's own parts: its database, its keys, its store, its outbox, and what agents say of it. */
import { listFeedback } from '#api/feedback/rules.ts';
import { countSealed, reseal } from '#db/encrypted-columns.ts';
import { migrate } from '#db/migrate.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Store } from '#providers/store/store.ts';
import { errors } from '#runtime/errors.ts';
import { command } from './command.ts';
import { listed, pageOf, rowsToRead } from './listing.ts';

export const platformCommands = {
  'feedback list': command({
    about: `What agents have told us of the platform, the oldest first, ${listed} at a time.`,
    needs: [],
    takes: ['since', 'after'],
    async run({ em }, { since = '1970-01-01T00:00:00Z', after = '' }) {
      if (Number.isNaN(Date.parse(since))) throw errors.invalid_since('--since is a time, as 2026-01-31T12:00:00Z.');
      return pageOf(await listFeedback(em, { since: new Date(since), after, limit: rowsToRead }), (note) => note);
    },
  }),
  'outbox list': command({
    about: `Messages to the workflow engine that were not sent, and why: the oldest first, ${listed} at a time.`,
    needs: [],
    takes: ['after'],
    async run({ em }, { after = '' }) {
      const where = { sentAt: null, id: { $gt: after } };
      return pageOf(await em.find(OutboxEntry, where, { orderBy: { id: 'asc' }, limit: rowsToRead }), shown);
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
    about: `Hashes everything that the store holds, counts what is spoilt, and names the first ${listed} of it. Ends with 1 where anything is.`,
    needs: [],
    run: ({ config }) => audit(createStore(config)),
    alarm: (answer) => spoiltWords(answer as Audit),
  }),
  'database migrate': command({
    about: 'Brings the database to the newest schema. Several may run at once.',
    needs: [],
    run: async ({ config }) => ({ ran: await migrate(config.databaseUrl) }),
  }),
};

type Audit = Awaited<ReturnType<typeof audit>>;

async function audit(store: Pick<Store, 'audit'>) {
  const names: string[] = [];
  let [blobs, spoilt] = [0, 0];
  for await (const { sha256, sound } of store.audit()) {
    blobs += 1;
    if (sound) continue;
    spoilt += 1;
    if (names.length < listed) names.push(sha256);
  }
  return { blobs, spoilt, names };
}

function spoiltWords({ blobs, spoilt }: Audit): string | undefined {
  if (spoilt === 0) return undefined;
  return (
    `${spoilt} of ${blobs} files in the store are not what their names say: the disk, or somebody, has changed them. ` +
    'Put each back from a backup under the same name; a page that is live and spoilt comes back with a publish, too, once the spoilt file is moved away.'
  );
}

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
