/** The shape of an operator command: its options, its function and its help. */

import type { EntityManager } from '#db/orm.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';

/** All options with an example value; an option without one is a flag. */
export const options = {
  account: 'acct_…',
  after: 'id',
  email: 'owner@example.com',
  name: "'The owner'",
  'token-name': "'My agent'",
  match: 'text',
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
  repair: '',
  'dry-run': '',
  'despite-damage': '',
  note: 'note_…',
  status: 'done',
  answer: "'What became of it, in one sentence'",
  reason: "'The reason, in one sentence'",
} as const;
export type Option = keyof typeof options;

export type Given = { em: EntityManager; config: Config; clock: Clock };

export type Command<Needed extends Option = Option, Taken extends Option = Option> = {
  about: string;
  needs: readonly Needed[];
  takes?: readonly Taken[];
  /** Returns the value to print as JSON. Only the result of `account create` contains a secret. */
  run(given: Given, values: Record<Needed, string> & Partial<Record<Taken, string>>): Promise<unknown>;
  /** Describes a problem of the platform in the result; the command then exits with 1. */
  alarm?(answer: unknown): string | undefined;
};

/** Types a command's function by its own options. */
export const command = <Needed extends Option = never, Taken extends Option = never>(
  one: Command<Needed, Taken>,
): Command => one as unknown as Command;

/** Wrong usage: the command exits with 2. */
export class UsageError extends Error {}

export function usageOf(name: string, { needs, takes = [] }: Command): string {
  const shown = (option: Option) => `--${option} ${options[option]}`.trimEnd();
  return ['frontage-admin', name, ...needs.map(shown), ...takes.map((one) => `[${shown(one)}]`)].join(' ');
}
