/** What one command of the operator's is: what it needs, what it does, and how it is taught. */

import type { EntityManager } from '#db/orm.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';

/** Every option there is, and what its value looks like; one without a value is said or not. */
export const options = {
  account: 'acct_…',
  after: 'id',
  email: 'owner@example.com',
  name: "'The owner'",
  match: 'words',
  plan: 'studio',
  until: '2027-01-31',
  since: '2026-01-31T12:00:00Z',
  domain: 'dom_…',
  site: 'site_…',
  entry: 'out_…',
  sketch: 'sketch_…',
  subject: 'pi_…',
  flag: 'flag_…',
  all: '',
  settled: '',
  into: '/backups',
  from: '/backups',
  'without-visitors': '',
  backup: '2026-01-31t120000z-…',
  keep: '48',
  mend: '',
  drill: '',
  'despite-damage': '',
  reason: "'Why, in a sentence'",
} as const;
export type Option = keyof typeof options;

export type Given = { em: EntityManager; config: Config; clock: Clock };

export type Command<Needed extends Option = Option, Taken extends Option = Option> = {
  about: string;
  needs: readonly Needed[];
  takes?: readonly Taken[];
  /** Answers what is printed, as JSON. No answer but that of `account create` holds a secret. */
  run(given: Given, values: Record<Needed, string> & Partial<Record<Taken, string>>): Promise<unknown>;
  /** Of what was printed: what is wrong with the platform, in words. The command ends with 1 then. */
  alarm?(answer: unknown): string | undefined;
};

/** Keeps the types of a command's own options. */
export const command = <Needed extends Option = never, Taken extends Option = never>(
  one: Command<Needed, Taken>,
): Command => one as unknown as Command;

/** A command that was typed wrongly: it ends with 2. */
export class UsageError extends Error {}

export function useOf(name: string, { needs, takes = [] }: Command): string {
  const shown = (option: Option) => `--${option} ${options[option]}`.trimEnd();
  return ['frontage-admin', name, ...needs.map(shown), ...takes.map((one) => `[${shown(one)}]`)].join(' ');
}
