/** Packet lines of the git protocol (gitprotocol-common(5)), as far as we write them ourselves. */

export const flush = '0000';

export function pktLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}

/**
 * The end of a push that we stop ourselves: progress lines for the terminal (band 2), then a fatal word (band 3), as the side-band
 * capability frames them (gitprotocol-pack(5)).
 */
export function fatalAnswer(lines: readonly string[], last: string): string {
  return lines.map((line) => pktLine(`\x02${line}\n`)).join('') + pktLine(`\x03${last}\n`) + flush;
}

/** An answer that is nothing but a refusal, in the words of the service. */
export function refusalResponse(service: 'git-upload-pack' | 'git-receive-pack', message: string): string {
  return service === 'git-upload-pack'
    ? pktLine(`ERR ${message}\n`)
    : fatalAnswer([message], 'Refused. Nothing has changed.');
}
