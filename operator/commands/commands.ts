/** All operator commands, and the parser of the command line. */
import { parseArgs } from 'node:util';
import { accountCommands } from './accounts.ts';
import { backupCommands } from './backups.ts';
import { blockCommands } from './blocks.ts';
import { type Command, type Option, options, UsageError, usageOf } from './command.ts';
import { exportCommands } from './exports.ts';
import { flagCommands } from './flags.ts';
import { moneyCommands } from './money.ts';
import { platformCommands } from './platform.ts';

export const commands: Record<string, Command> = {
  ...accountCommands,
  ...backupCommands,
  ...blockCommands,
  ...exportCommands,
  ...flagCommands,
  ...moneyCommands,
  ...platformCommands,
};

/** Help for all commands, or for those that begin with these words. */
function helpFor(words: string): string {
  const known = Object.entries(commands).filter(([name]) => name.startsWith(words));
  const shown = known.length > 0 ? known : Object.entries(commands);
  return shown.map(([name, one]) => `${usageOf(name, one)}\n    ${one.about}`).join('\n');
}

/** The requested command with its options, or the requested help. Throws `UsageError` and the errors of `parseArgs`. */
export function readCommand(args: string[]) {
  const named = Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      { type: value ? ('string' as const) : ('boolean' as const) },
    ]),
  );
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...named, help: { type: 'boolean', short: 'h' } },
  });
  const name = positionals.join(' ');
  const { help, ...given } = values as Partial<Record<Option, string | boolean>> & { help?: boolean };
  if (help) return { help: helpFor(name) };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command)
    throw new UsageError(
      `${name ? `There is no command ${name}.` : 'A command is required.'} Available commands:\n${helpFor(name)}`,
    );
  const { needs, takes = [] } = command;
  const wrong = (Object.keys(given) as Option[]).find((one) => ![...needs, ...takes].includes(one));
  if (wrong) throw new UsageError(`${name} has no option --${wrong}: ${usageOf(name, command)}`);
  if (needs.some((one) => !given[one])) throw new UsageError(`A required option is missing: ${usageOf(name, command)}`);
  return { command, given };
}
