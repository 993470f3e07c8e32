import type { Store } from './store.ts';

/** Those of the files that the store has in full. */
export async function wholeFiles<File extends { sha256: string; bytes: number }>(
  store: Pick<Store, 'sizes'>,
  files: readonly File[],
): Promise<File[]> {
  const sizes = await store.sizes([...new Set(files.map(({ sha256 }) => sha256))]);
  return files.filter(({ sha256, bytes }) => sizes.get(sha256) === bytes);
}
