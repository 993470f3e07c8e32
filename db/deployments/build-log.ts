/** The log of a build, in numbered chunks that are appended while it runs. */
import type { EntityManager } from '#db/orm.ts';

/** Adds a chunk, or replaces the one that an interrupted attempt wrote. */
export async function appendLog(em: EntityManager, deploymentId: string, seq: number, text: string): Promise<void> {
  const stored = storable(text);
  // Not `excluded.text`, which needs the right to read the column (db/builds-role.ts).
  await em.execute(
    `insert into build_log (deployment_id, seq, text) values (?, ?, ?)
     on conflict (deployment_id, seq) do update set text = ?`,
    [deploymentId, seq, stored, stored],
  );
}

/** Text of a site's code as PostgreSQL stores it: text rejects NUL, and jsonb also lone surrogates. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** Deletes the log of an earlier attempt. */
export async function clearLog(em: EntityManager, deploymentId: string): Promise<void> {
  await em.execute('delete from build_log where deployment_id = ?', [deploymentId]);
}

/** Chunks after `afterSeq`, oldest first. */
export async function readLog(
  em: EntityManager,
  deploymentId: string,
  afterSeq = -1,
): Promise<{ seq: number; text: string }[]> {
  return await em.execute('select seq, text from build_log where deployment_id = ? and seq > ? order by seq', [
    deploymentId,
    afterSeq,
  ]);
}

/** The end of the log, at most `bytesMax` bytes of UTF-8. A truncated log starts at a line break. */
export async function readLogTail(em: EntityManager, deploymentId: string, bytesMax: number): Promise<string> {
  const pieces = await readLog(em, deploymentId);
  const bytes = Buffer.from(pieces.map((piece) => piece.text).join(''));
  if (bytes.length <= bytesMax) return bytes.toString();
  const tail = bytes.subarray(bytes.length - bytesMax);
  return tail.subarray(tail.indexOf('\n') + 1).toString();
}
