/** Tars made by hand. */
import { Readable } from 'node:stream';
import { type Header, pack } from 'tar-stream';

export function toTar(files: Record<string, string | Buffer>): Readable {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content);
  tar.finalize();
  return Readable.from(tar as AsyncIterable<Buffer>);
}

export type TarEntry = Partial<Header> & { name: string; content?: string };

/** Entries of any kind, as a hostile writer would send them. */
export function tarOf(entries: TarEntry[]): Readable {
  const tar = pack();
  for (const { content, ...header } of entries) {
    if (content === undefined) tar.entry({ ...header, size: 0 }).end(undefined);
    else tar.entry(header, content);
  }
  tar.finalize();
  return Readable.from(tar as AsyncIterable<Buffer>);
}
