/** The e-mails that an owner can switch on and off, each with a sentence for its page. Pure. */

type Choice = {
  /** Whether the e-mail is sent to an owner who has not chosen. */
  isOn: boolean;
  /** When it is sent. */
  says: string;
};

const choices = {
  publishes: { isOn: true, says: 'A version of your website could not be published.' },
  domains: { isOn: true, says: 'A domain is live, or something is wrong with it.' },
  agents: { isOn: true, says: 'An agent or an app got access to your account.' },
  comments: { isOn: true, says: 'A comment has been waiting for more than an hour.' },
  payments: { isOn: true, says: 'A visitor paid, or a payment or refund did not work.' },
  summary: { isOn: false, says: 'A week is over, with a summary of your websites.' },
} as const satisfies Record<string, Choice>;

export type MailChoice = keyof typeof choices;
export const mailChoices: Readonly<Record<MailChoice, Choice>> = choices;
export const mailChoiceNames = Object.keys(choices) as MailChoice[];

/** What an owner chose; what is absent keeps its default. */
export type ChosenMails = Partial<Record<MailChoice, boolean>>;

/** Whether the e-mail is sent. */
export function isChosen(name: MailChoice, chosen: ChosenMails | null | undefined): boolean {
  return chosen?.[name] ?? mailChoices[name].isOn;
}
