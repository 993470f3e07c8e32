/** Commands for the platform itself: its database, keys, store and outbox, and feedback from agents. */
import { answerFeedback, listFeedback } from '#api/feedback/rules.ts';
import { grantBuildsRole } from '#db/builds-role.ts';
import { countEncrypted, reencrypt } from '#db/encrypted-columns.ts';
import { migrate } from '#db/migrate.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Store } from '#providers/store/store.ts';
import { errors } from '#runtime/errors.ts';
import { command } from './command.ts';
import { listed, pageOf, rowsToRead } from './listing.ts';

export const platformCommands = {
  'feedback list': command({
    about: `Lists agents’ feedback about the platform, oldest first, ${listed} at a time.`,
    needs: [],
    takes: ['since', 'after'],
    async run({ em }, { since = '1970-01-01T00:00:00Z', after = '' }) {
      if (Number.isNaN(Date.parse(since)))
        throw errors.invalid_since('--since must be a time such as 2026-01-31T12:00:00Z.');
      return pageOf(await listFeedback(em, { since: new Date(since), after, limit: rowsToRead }), (note) => note);
    },
  }),
  'feedback answer': command({
    about:
      'Records what became of feedback: --status is planned, done, declined or open. The account that sent it can read both.',
    needs: ['note', 'status'],
    takes: ['answer'],
    async run({ em, clock }, { note: id, status, answer = null }) {
      const note = await answerFeedback(em, clock, { id, status, answer });
      return { id, status: note.status, answer: note.answer };
    },
  }),
  'outbox list': command({
    about: `Lists messages that have not been sent to Temporal yet, with the last error, oldest first, ${listed} at a time.`,
    needs: [],
    takes: ['after'],
    async run({ em }, { after = '' }) {
      const where = { sentAt: null, id: { $gt: after } };
      return pageOf(await em.find(OutboxEntry, where, { orderBy: { id: 'asc' }, limit: rowsToRead }), shown);
    },
  }),
  'outbox replay': command({
    about: 'Sends an outbox message to Temporal again. This has no effect on workflows that are running or completed.',
    needs: ['entry'],
    async run({ em }, { entry: id }) {
      const entry = await em.findOne(OutboxEntry, { id });
      if (!entry) throw errors.not_found('There is no such entry. Entries are deleted some time after they were sent.');
      Object.assign(entry, { sentAt: null, attempts: 0, lastError: null });
      await em.flush();
      return shown(entry);
    },
  }),
  'sealing status': command({
    about: 'Counts the stored secrets that are encrypted with each key.',
    needs: [],
    run: ({ em, config }) => countEncrypted(em, config.encryptionKeys),
  }),
  'sealing reseal': command({
    about: 'Re-encrypts all stored secrets with the newest key. You can interrupt it and run it again.',
    needs: [],
    run: ({ em, config }) => reencrypt(em, config.encryptionKeys),
  }),
  'store audit': command({
    about: `Checks the hash of every file in the store, counts the corrupt files and lists the first ${listed}. Exits with 1 if there are any.`,
    needs: [],
    run: ({ config }) => audit(createStore(config)),
    alarm: (answer) => corruptionMessage(answer as Audit),
  }),
  'database migrate': command({
    about:
      'Migrates the database to the latest schema, and updates the role of builds workers if FRONTAGE_BUILDS_DATABASE_URL names one. Concurrent runs are safe.',
    needs: [],
    async run({ config: { databaseUrl, buildsDatabaseUrl } }) {
      const ran = await migrate(databaseUrl);
      return buildsDatabaseUrl ? { ran, builds_role: await grantBuildsRole(databaseUrl, buildsDatabaseUrl) } : { ran };
    },
  }),
};

type Audit = Awaited<ReturnType<typeof audit>>;

async function audit(store: Pick<Store, 'audit'>) {
  const names: string[] = [];
  let [blobs, corrupt] = [0, 0];
  for await (const { sha256, sound } of store.audit()) {
    blobs += 1;
    if (sound) continue;
    corrupt += 1;
    if (names.length < listed) names.push(sha256);
  }
  return { blobs, corrupt, names };
}

function corruptionMessage({ blobs, corrupt }: Audit): string | undefined {
  if (corrupt === 0) return undefined;
  return (
    `${corrupt} of ${blobs} files in the store do not match their hashes: the disk is faulty, or the files were changed. ` +
    'Restore each file from a backup under the same name. If the file belongs to a live site, you can also move it away and publish the site again.'
  );
}

/** Omits the part of the message that only the workflow needs. */
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
