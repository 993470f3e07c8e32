/** Writes a tar entry by entry. */
import type { Pack } from 'tar-stream';

type Header = Parameters<Pack['entry']>[0];

/** Adds a whole file, and waits until there is room for the next. Rejects if the tar is destroyed meanwhile. */
export function addTarEntry(tar: Pack, header: Header, content: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const entry = tar.entry(header, content, (error) => (error ? reject(error) : resolve()));
    // The callback gets the error as well. Without a listener, a reader that breaks off would end the process.
    entry.on('error', () => {});
  });
}
