/** Streams the build log from a sandbox: decoded, limited in size, never stored whole. */
import type { Readable } from 'node:stream';

/**
 * Passes the stream to `onLog` as text up to `bytesMax`, then counts dropped bytes and reports them in a last line.
 * Resolves at the marker `end`, which is not passed on, or when the stream ends or fails.
 */
export async function passLog(
  stream: Readable,
  { end, bytesMax, onLog }: { end: string; bytesMax: number; onLog: (text: string) => void },
): Promise<void> {
  const pass = capped(bytesMax, onLog);
  // A possible start of the marker is held back until more bytes arrive; it starts with a byte that logs do not
  // contain.
  let pending = Buffer.alloc(0);
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([pending, chunk]);
      const found = bytes.indexOf(end);
      const start = bytes.indexOf(end.slice(0, 1), Math.max(0, bytes.length - end.length + 1));
      const ready = found >= 0 ? found : start >= 0 ? start : bytes.length;
      pass.write(bytes.subarray(0, ready));
      pending = bytes.subarray(found >= 0 ? bytes.length : ready);
      if (found >= 0) break;
    }
  } catch {
    // Killing a build cuts off its log; the part received is passed on.
  }
  pass.write(pending);
  pass.end();
  stream.resume();
}

function capped(bytesMax: number, onLog: (text: string) => void) {
  const decoder = new TextDecoder();
  let left = bytesMax;
  let dropped = 0;
  const say = (text: string) => text !== '' && onLog(withoutControlCharacters(text));
  return {
    write(bytes: Buffer) {
      const kept = bytes.subarray(0, left);
      left -= kept.length;
      dropped += bytes.length - kept.length;
      say(decoder.decode(kept, { stream: true }));
    },
    end() {
      say(decoder.decode());
      if (dropped > 0) say(`\n[Log truncated: ${dropped} more bytes were dropped.]\n`);
    },
  };
}

/** Replaces each control character, so that text of site code cannot control a terminal. */
export function withoutControlCharacters(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces them; tabs and line ends stay
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\u{FFFD}');
}
