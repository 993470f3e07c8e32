/** Parses the command line, runs a command or an operation, and sets the exit code. */
import { parseArgs } from 'node:util';
import { logLive } from './builds.js';
import { json, siteOf } from './call.js';
import { commands } from './commands/commands.js';
import { quoted } from './commands/git.js';
import { operationsOf, verbsOf } from './description.js';
import { helpOf, summaryOf } from './help.js';
import { runOperation } from './operations.js';
import { log, plain, print, show, toJson, writeOut } from './output.js';
import { changeServer, client, exits, ownHash, readConfig, Stop, serverOf, usage, version } from './server.js';

/** @typedef {import('./server.js').Server} Server */
/** @typedef {import('./server.js').Options} Options */

const switches = ['json', 'quiet', 'help', 'no-wait', 'version', 'yes'];

/**
 * Words and flags: `--flag value`, `--flag=value`, and the switches without a value. A flag whose next argument is another flag is a switch, too.
 * After `--` all are words; so is a single-letter flag other than `-h`.
 * @param {string[]} args
 */
function parse(args) {
  const valued = args.flatMap((arg, index) => {
    const [, name] = /^--([^=]+)$/.exec(arg) ?? [];
    const next = args[index + 1];
    const hasValue = next !== undefined && (!next.startsWith('--') || next === '--');
    return name && hasValue && !switches.includes(name) ? [[name, { type: /** @type {const} */ ('string') }]] : [];
  });
  const { tokens } = parseArgs({
    args,
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: {
      ...Object.fromEntries(valued),
      ...Object.fromEntries(switches.map((name) => [name, { type: /** @type {const} */ ('boolean') }])),
    },
  });
  /** @type {Map<number, string>} */
  const words = new Map();
  /** @type {Record<string, any>} */
  const all = Object.create(null);
  /** @type {Record<string, (string | true)[]>} */
  const repeated = Object.create(null);
  for (const token of tokens) {
    if (token.kind === 'positional') words.set(token.index, token.value);
    else if (token.kind === 'option' && args[token.index] === '-h') all.help = true;
    else if (token.kind === 'option' && !token.rawName.startsWith('--'))
      words.set(token.index, args[token.index] ?? '');
    else if (token.kind === 'option') {
      if (token.name.startsWith('=')) throw usage(`${args[token.index]} is not a valid option.`);
      const value = token.value ?? true;
      if (token.name in all) repeated[token.name] = [...(repeated[token.name] ?? [all[token.name]]), value];
      all[token.name] = value;
    }
  }
  const { json: asJson = false, quiet = false, help = false, version = false, url, body, wait, ...flags } = all;
  /** @type {Options} */
  const options = { json: asJson === true, quiet: quiet === true, help, version, url, body, wait, flags, repeated };
  return { words: [...words.values()], options };
}

/**
 * Prints the version of this client, and whether the server has a different one.
 * @param {Server} server
 * @param {Options} options
 */
async function showVersion({ baseUrl }, { json: asJson }) {
  const tree = await json({ baseUrl }, 'GET', '/skill/').catch(() => ({}));
  const served = tree.files?.find((/** @type {any} */ { path }) => path === 'bin/frontage.mjs')?.sha256;
  const isNewest = served === undefined ? null : served === ownHash;
  if (asJson) return print(toJson({ version, node: process.versions.node, url: baseUrl, newest: isNewest }));
  print(`frontage ${version} (Node ${process.versions.node}), for ${baseUrl}`);
  if (isNewest === null) log(`Cannot tell whether this is the newest client: ${baseUrl} did not respond.`);
  else if (!isNewest)
    log(
      `→ The server has a different version of the client. To get it: curl -s -o ${plain(quoted(client))} ${baseUrl}/skill/bin/frontage.mjs`,
    );
  return exits.done;
}

/** @param {Server} server */
async function overview(server) {
  const nouns = verbsOf(await operationsOf(server).catch(() => []));
  return [
    'frontage builds and runs websites for their owners.',
    '',
    ...Object.values(commands).map(({ use, about }) => `  ${use}\n      ${about}`),
    '',
    'Every API operation is a command with a noun and a verb, such as frontage site list. Add --help for details:',
    '',
    ...[...nouns].map(([noun, verbs]) => `  ${noun.padEnd(16)} ${verbs.join(' ')}`),
    '',
    '  --json prints responses unchanged. --quiet shows the log of a build only if it fails.',
    '  --wait sets how many seconds (0 to 50) a call may wait for its result.',
    '  FRONTAGE_URL and FRONTAGE_TOKEN override what login stored. --version says whether there is a newer client.',
    '  Exit codes: 0 done, 1 refused or failed, 2 usage error, 3 not finished yet, 4 a person needs to act.',
    '',
    `“frontage” means this file: run node ${client} …, or define alias frontage="node '${client}'".`,
    'To start, run frontage login, then frontage skill, which explains how to build a site.',
  ].join('\n');
}

/**
 * @param {string[]} args
 * @returns {Promise<number>} The exit code.
 */
async function main(args) {
  const { words, options } = parse(args);
  const [first, second] = words;
  const server = serverOf(options);
  if (options.version) return await showVersion(server, options);
  if (first === undefined) return print(await overview(server), options.help ? exits.done : exits.usage);
  if (first === 'help') return await main([...args.filter((arg) => arg !== 'help'), '--help']);
  const command = Object.hasOwn(commands, first) ? commands[first] : undefined;
  // These are commands and also nouns of the API.
  const isShared = command && ['check', 'preview', 'skill'].includes(first) && (options.help || second !== undefined);
  const operations = command && !isShared ? [] : (await operationsOf(server)).filter(({ noun }) => noun === first);
  if (!command || operations.some(({ verb }) => verb === second))
    return await runNoun(server, operations, words, options);
  if (options.help) return print([`${command.use}\n\n${command.about}`, ...operations.map(summaryOf)].join('\n\n'));
  const unknown = Object.keys(options.flags).find(
    (flag) => !command.use.includes(`[--${flag}`) && !command.use.includes(` --${flag}`),
  );
  if (unknown) throw usage(`There is no option --${unknown}.`, command.use);
  return await command.run(server, words.slice(1), options);
}

/**
 * @param {Server} server
 * @param {import('./description.js').Operation[]} operations Those of the noun.
 * @param {string[]} words
 * @param {Options} options
 */
async function runNoun(server, operations, [noun = '', verb, ...rest], options) {
  if (operations.length === 0) throw usage(`There is no command ${plain(noun)}.`);
  if (verb === undefined) return print(operations.map(summaryOf).join('\n'), options.help ? exits.done : exits.usage);
  const operation = operations.find((one) => one.verb === verb);
  if (!operation) throw usage(`There is no command ${noun} ${plain(verb)}.`, `frontage ${noun} --help`);
  if (options.help) return print(helpOf(operation));
  const { body, file, saved } = await runOperation(server, operation, rest, options);
  if (noun === 'deployment' && verb === 'restore' && !options.json && body?.status === 'live')
    logLive(body, await siteOf(server, body.site_id));
  if (noun === 'token' && verb === 'rotate' && body?.current) keepOwnToken(server, body.access_token);
  if (body) return show(body, options);
  if (saved) return print(options.json ? toJson({ file: saved }) : saved);
  await writeOut(file);
  return exits.done;
}

/**
 * Stores the new secret of the token in use, unless that came from the environment.
 * @param {Server} server
 * @param {string} token
 */
function keepOwnToken({ baseUrl, token: former }, token) {
  if (readConfig().servers[baseUrl]?.token === former) changeServer(baseUrl, { token });
  else log('Set FRONTAGE_TOKEN to the new token.');
}

// A reader such as head(1) may close the pipe early.
process.stdout.on('error', (/** @type {NodeJS.ErrnoException} */ { code }) =>
  process.exit(code === 'EPIPE' ? exits.done : exits.refused),
);

main(process.argv.slice(2))
  .then((exit) => {
    process.exitCode = exit;
  })
  .catch((error) => {
    if (!(error instanceof Stop)) log(`✗ ${plain(error.message)}`);
    else if (process.argv.includes('--json')) console.log(toJson(error.body));
    else log(`✗ ${plain(error.message)}${error.next ? `\n→ ${plain(error.next)}` : ''}`);
    if (error instanceof Stop && error.requestId) log(`  request ${error.requestId}`);
    process.exitCode = error instanceof Stop ? error.exit : exits.refused;
  });
