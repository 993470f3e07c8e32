#!/usr/bin/env node
import { openOrm } from '#db/orm.ts';
/**
 * `frontage-admin`, the operator's command, in the environment of the installation:
 *
 *   frontage-admin account create --email owner@example.com --name 'The owner'
 *   frontage-admin --help
 *
 * Prints one line of JSON. Exit codes: 0 done, 1 refused or the platform has a problem, 2 wrong usage.
 */
import { systemClock } from '#runtime/clock.ts';
import { readConfig } from '#runtime/config.ts';
import { AppError } from '#runtime/errors.ts';
import { type Option, UsageError } from './commands/command.ts';
import { readCommand } from './commands/commands.ts';

async function main(): Promise<void> {
  const { help, command, given } = readCommand(process.argv.slice(2));
  if (help !== undefined) return console.log(help);
  const config = readConfig();
  const orm = openOrm(config.databaseUrl, { poolMax: 1 });
  try {
    const values = given as Record<Option, string>;
    const answer = await command.run({ em: orm.em.fork(), config, clock: systemClock }, values);
    console.log(JSON.stringify(answer));
    const alarm = command.alarm?.(answer);
    if (alarm === undefined) return;
    console.error(`✗ ${alarm}`);
    process.exitCode = 1;
  } finally {
    await orm.close();
  }
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error instanceof UsageError || String(error.code).startsWith('ERR_PARSE_ARGS');
  console.error(`✗ ${error instanceof AppError ? `${error.code}: ` : ''}${error.message}`);
  process.exitCode = isUsage ? 2 : 1;
});
