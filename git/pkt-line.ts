/** Packet lines of the git protocol (gitprotocol-common(5)), for the responses that we write ourselves. */

export const flush = '0000';

export function pktLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}

/** The number of bytes of the complete packets at the beginning; all if these are not packets. */
export function completeBytes(bytes: Buffer): number {
  for (let at = 0; ; ) {
    if (at + 4 > bytes.length) return at;
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    if (Number.isNaN(length)) return bytes.length;
    // Lengths below 4 are markers without content.
    const end = at + Math.max(4, length);
    if (end > bytes.length) return at;
    at = end;
  }
}

/**
 * The response to a push that we abort: progress lines for the terminal (band 2), then a fatal error (band 3), framed
 * by the side-band capability (gitprotocol-pack(5)).
 */
export function fatalAnswer(lines: readonly string[], last: string): string {
  return lines.map((line) => pktLine(`\x02${line}\n`)).join('') + pktLine(`\x03${last}\n`) + flush;
}

/** A response that contains only a refusal, in the format of the service. */
export function refusalResponse(service: 'git-upload-pack' | 'git-receive-pack', message: string): string {
  return service === 'git-upload-pack'
    ? pktLine(`ERR ${message}\n`)
    : fatalAnswer([message], 'Refused. Nothing has changed.');
}
