/** The build log on its way from a sandbox: decoded, capped, never held. */
import type { Readable } from 'node:stream';

/**
 * Passes the stream to `onLog` as text until `bytesMax`, then counts what is dropped and says so in a last line. Resolves
 * at the stream's end, however it ends.
 */
export async function passLog(stream: Readable, bytesMax: number, onLog: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let left = bytesMax;
  let dropped = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const kept = chunk.subarray(0, left);
      left -= kept.length;
      dropped += chunk.length - kept.length;
      if (kept.length > 0) onLog(decoder.decode(kept, { stream: true }));
    }
  } catch {
    // Killing a build breaks its log off; what came is what there is.
  }
  const rest = decoder.decode();
  if (rest) onLog(rest);
  if (dropped > 0) onLog(`\n[The log ends here: ${dropped} more bytes were dropped.]\n`);
}
