/** Typical damage to files on disks. */
import { readFile, writeFile } from 'node:fs/promises';

/** Flips one bit in the middle of a file. Answers what mends it. */
export async function flipBit(path: string): Promise<() => Promise<void>> {
  const whole = await readFile(path);
  const corrupt = Buffer.from(whole);
  const at = Math.floor(whole.length / 2);
  corrupt[at] = (corrupt[at] ?? 0) ^ 1;
  await writeFile(path, whole.length > 0 ? corrupt : Buffer.from('x'));
  return () => writeFile(path, whole);
}
