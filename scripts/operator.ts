/**
 * The operator's command, in the environment of the installation:
 *
 *   node scripts/operator.ts account create --email owner@example.com --name 'The owner'
 *   node scripts/operator.ts --help
 *
 * Prints one line of JSON. Exit codes: 0 done, 1 refused, 2 used wrongly.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { openOrm } from '../db/orm.ts';
import { AppError } from '../errors.ts';
import { accountCommands } from './operator/accounts.ts';
import { blockCommands } from './operator/blocks.ts';
import { type Command, type Option, options, useOf } from './operator/command.ts';
import { moneyCommands } from './operator/money.ts';
import { platformCommands } from './operator/platform.ts';

const commands: Record<string, Command> = {
  ...accountCommands,
  ...blockCommands,
  ...moneyCommands,
  ...platformCommands,
};

class UsageError extends Error {}

/** All commands, or those that begin with the words that were given. */
function helpFor(words: string): string {
  const known = Object.entries(commands).filter(([name]) => name.startsWith(words));
  const shown = known.length > 0 ? known : Object.entries(commands);
  return shown.map(([name, one]) => `${useOf(name, one)}\n    ${one.about}`).join('\n');
}

function readCommand(args: string[]) {
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
  if (!command) throw new UsageError(name ? `There is no command ${name}. There are:\n${helpFor(name)}` : helpFor(''));
  const { needs, takes = [] } = command;
  const wrong = (Object.keys(given) as Option[]).find((one) => ![...needs, ...takes].includes(one));
  if (wrong) throw new UsageError(`${name} takes no --${wrong}: ${useOf(name, command)}`);
  if (needs.some((one) => !given[one])) throw new UsageError(`It needs more: ${useOf(name, command)}`);
  return { command, given };
}

async function main(): Promise<void> {
  const { help, command, given } = readCommand(process.argv.slice(2));
  if (help !== undefined) return console.log(help);
  const config = readConfig();
  const orm = openOrm(config.databaseUrl, { poolMax: 1 });
  try {
    const values = given as Record<Option, string>;
    console.log(JSON.stringify(await command.run({ em: orm.em.fork(), config, clock: systemClock }, values)));
  } finally {
    await orm.close();
  }
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error instanceof UsageError || String(error.code).startsWith('ERR_PARSE_ARGS');
  console.error(`✗ ${error instanceof AppError ? `${error.code}: ` : ''}${error.message}`);
  process.exitCode = isUsage ? 2 : 1;
});
