/** Every kind of mail that goes out: what it is made of, and the function that writes it. Pure. */
import { invitation } from './invitation.ts';
import type { WrittenMail } from './layout.ts';

/** What every mail may know besides its own data. */
export type MailContext = { baseUrl: string };
export type Template<Data> = (data: Data, context: MailContext) => WrittenMail;

export const mails = {
  invitation,
} as const;

export type MailKind = keyof typeof mails;
export type MailData<Kind extends MailKind> = Parameters<(typeof mails)[Kind]>[0];

export function writeMail<Kind extends MailKind>(kind: Kind, data: MailData<Kind>, context: MailContext): WrittenMail {
  return (mails[kind] as Template<MailData<Kind>>)(data, context);
}
