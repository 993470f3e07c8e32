/** The lines that git speaks (gitprotocol-common(5)), as far as we write them ourselves. */

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
