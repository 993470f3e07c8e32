/** The bytes of an upload: hashed, counted and validated while they stream to the store; refused bytes are not stored. */

import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { type Actor, loadDeployment } from '#api/access.ts';
import { passBytes } from '#api/plugins/file-body.ts';
import { recordHeldFiles } from '#db/deployments/held-files.ts';
import type { EntityManager } from '#db/orm.ts';
import { isCompressible } from '#providers/media-types.ts';
import { printable } from '#providers/paths.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { declaredTypeOf, validateContent } from './content.ts';
import { requireOpenUpload } from './rules.ts';

export type ReceivedFile = { sha256: string; bytes: number };

/**
 * Receives the bytes of one hash that the manifest names. Sending them again changes nothing.
 * Throws `hash_mismatch`, `size_mismatch`, `invalid_file`, `not_found` (no file of that hash is named), `not_accepting_uploads`,
 * `superseded`, `storage_error`.
 */
export async function receiveFile(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, sha256, content }: { id: string; sha256: string; content: Readable },
): Promise<ReceivedFile> {
  const deployment = await loadDeployment(em, actor, id);
  requireOpenUpload(deployment, deps.clock.now());
  if (!/^[0-9a-f]{64}$/.test(sha256))
    throw errors.invalid_input('The hash in the path must be a SHA-256 hash: 64 lower-case hexadecimal digits.');
  const named = await em.execute<{ path: string; bytes: string }[]>(
    `select min(path) as path, min(bytes) as bytes from upload_file where deployment_id = ? and sha256 = decode(?, 'hex')
     group by lower(substring(path from '[.]([^./]+)$')) order by 1`,
    [id, sha256],
  );
  const [first] = named;
  if (!first) {
    throw errors.not_found('This version’s manifest contains no file with this hash.', {
      nextAction: `Add the file first with ${call('deployment.manifest', { id })}.`,
    });
  }
  const paths = named.map(({ path }) => path);
  const checked = check(content, { sha256, bytes: Number(first.bytes), paths });
  const { bytes, encodings } = await deps.store.put(checked, { compress: paths.some(isCompressible) });
  await recordHeldFiles(em, deployment.site.id, [{ sha256, bytes, encodings }]);
  await em.execute(
    `update upload_file set missing = false, came = true where deployment_id = ? and sha256 = decode(?, 'hex') and missing`,
    [id, sha256],
  );
  return { sha256, bytes };
}

type Expected = { sha256: string; bytes: number; paths: string[] };

/** Passes bytes on, and fails if they do not match the manifest. */
function check(content: Readable, { sha256, bytes, paths }: Expected): Transform {
  const hash = createHash('sha256');
  // A blob may have thousands of names; it is validated once for each declared format.
  const byPromise = new Map(paths.map((path) => [declaredTypeOf(path), path]));
  const validators = [...byPromise.values()].map((path) => ({ path, validator: validateContent(path) }));
  let came = 0;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      came += chunk.length;
      if (came > bytes) return done(wrongSize(`More than ${bytes}`, bytes));
      hash.update(chunk);
      for (const { path, validator } of validators) {
        const fault = validator.write(chunk);
        if (fault) return done(refuseFile(path, fault));
      }
      done(null, chunk);
    },
    flush(done) {
      if (came !== bytes) return done(wrongSize(`${came}`, bytes));
      if (hash.digest('hex') !== sha256) return done(wrongHash());
      validateEnd(validators).then(
        (error) => done(error ?? null),
        (error) => done(error),
      );
    },
  });
  // A client that disconnects sends fewer bytes than declared.
  return passBytes(content, checked, () => wrongSize(`${came}`, bytes));
}

async function validateEnd(validators: { path: string; validator: ReturnType<typeof validateContent> }[]) {
  for (const { path, validator } of validators) {
    const fault = await validator.end();
    if (fault) return refuseFile(path, fault);
  }
  return undefined;
}

export function refuseFile(path: string, fault: string): AppError {
  return errors.invalid_file(`${printable(path)} ${fault}.`, {
    nextAction: 'Fix or remove the file, then start a new upload.',
  });
}

function wrongSize(came: string, bytes: number): AppError {
  return errors.size_mismatch(`${came} bytes were sent, but the manifest specifies ${bytes}.`, {
    nextAction: 'Send exactly the bytes that the manifest describes.',
  });
}

function wrongHash(): AppError {
  return errors.hash_mismatch('The hash of the bytes does not match the hash in the path.', {
    nextAction: 'Send exactly the bytes that the manifest describes.',
  });
}
