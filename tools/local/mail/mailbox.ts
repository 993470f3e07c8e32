/** The received e-mails, newest first; in a folder, or only in memory. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime from 'postal-mime';

export type CaughtMail = {
  id: string;
  /** Every recipient of the SMTP envelope. */
  to: string[];
  from: string;
  subject: string;
  text: string;
  html: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  attachments: { filename: string; content_type: string; text: string }[];
  received_at: string;
};

export type Mailbox = {
  add(raw: Buffer, to: string[], receivedAt: Date): Promise<CaughtMail>;
  list(to?: string): CaughtMail[];
  get(id: string): CaughtMail | undefined;
};

export function openMailbox(folder?: string, keptMax = 1000): Mailbox {
  const mails: CaughtMail[] = folder === undefined ? [] : readAll(folder);
  let count = 0;

  return {
    async add(raw, to, receivedAt) {
      const parsed = await PostalMime.parse(raw);
      const unique = createHash('sha256').update(raw).update(`${count++}`).digest('hex').slice(0, 8);
      const mail: CaughtMail = {
        // Sorts by time of arrival.
        id: `${receivedAt.getTime().toString(36).padStart(9, '0')}-${unique}`,
        to,
        from: parsed.from?.address ?? '',
        subject: parsed.subject ?? '',
        text: parsed.text ?? '',
        html: parsed.html ?? '',
        headers: Object.fromEntries(parsed.headers.map(({ key, value }) => [key.toLowerCase(), value])),
        attachments: parsed.attachments.map(({ filename, mimeType, content }) => ({
          filename: filename ?? '',
          content_type: mimeType,
          text: typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString(),
        })),
        received_at: receivedAt.toISOString(),
      };
      mails.unshift(mail);
      if (folder !== undefined) write(folder, mail);
      for (const old of mails.splice(keptMax)) if (folder !== undefined) rmSync(join(folder, `${old.id}.json`));
      return mail;
    },
    list: (to) =>
      mails.filter((mail) => to === undefined || mail.to.some((one) => one.toLowerCase() === to.toLowerCase())),
    get: (id) => mails.find((mail) => mail.id === id),
  };
}

function readAll(folder: string): CaughtMail[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names
    .sort()
    .reverse()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

function write(folder: string, mail: CaughtMail): void {
  const file = join(folder, `${mail.id}.json`);
  writeFileSync(`${file}.part`, JSON.stringify(mail), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
