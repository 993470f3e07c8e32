/** Screenshots sent with comments: untrusted bytes, checked by type and never decoded. */
import { fileTypeFromBuffer } from 'file-type';
import { structureFault } from '#git/rules/structure.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

export type Picture = { sha256: string; type: string };

const types: Record<string, string> = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' };
const base64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Stores the picture. Throws `no_storage` if this installation stores no files, `invalid_file` for other formats. */
export async function storePicture({ store, config }: Deps, text: string): Promise<Picture> {
  if (!config.files) {
    throw errors.no_storage('This platform cannot store screenshots with comments.', {
      nextAction: 'Send the comment without screenshot_base64.',
    });
  }
  const bytes = base64.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (!bytes) throw invalid('is not valid base64');
  const format = (await fileTypeFromBuffer(bytes))?.ext ?? '';
  const type = types[format];
  if (type === undefined) throw invalid('is not a PNG, JPEG or WebP image');
  const fault = await structureFault(format, once(bytes));
  if (fault) throw invalid(`cannot be used because its contents ${fault.what}`);
  const { sha256 } = await store.put(bytes);
  await store.flush();
  return { sha256, type };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function invalid(what: string): AppError {
  return errors.invalid_file(`screenshot_base64 ${what}.`, {
    nextAction: 'Send a PNG, JPEG or WebP image as base64, or omit screenshot_base64.',
  });
}
