/** `skill` and `completion`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { bytesOf, call, json } from '../call.js';
import { operationsOf, verbsOf } from '../description.js';
import { plain, show, writeOut } from '../output.js';
import { exits, hashOf, Stop, usage } from '../server.js';
import { commands } from './commands.js';

/** @typedef {import('../server.js').Server} Server */
/** @typedef {import('./commands.js').Command} Command */

/** @type {Command} */
export const skill = {
  use: 'frontage skill [path] [--into <folder>]',
  about: 'Print SKILL.md or another page of the skill, or save all pages into a folder. --json lists the pages.',
  async run(server, [path], { flags, json: asJson }) {
    if (path !== undefined || (flags.into === undefined && !asJson)) {
      await writeOut([await readPage(server, path ?? 'SKILL.md')]);
      return exits.done;
    }
    const tree = await json(server, 'GET', '/skill/');
    if (flags.into === undefined) return show(tree, { json: true });
    if (flags.into === true) throw usage('--into needs a folder.', skill.use);
    const folder = resolve(flags.into);
    for (const file of tree.files) await savePage(server, folder, file);
    return show({ version: tree.version, files: tree.files.length, folder }, { json: asJson });
  },
};

/**
 * @param {Server} server
 * @param {string} name
 */
const readPage = async (server, name) =>
  await bytesOf(await call(server, 'GET', `/skill/${name.split('/').map(encodeURIComponent).join('/')}`));

/**
 * @param {Server} server
 * @param {string} folder
 * @param {{ path: string, sha256: string }} file
 */
async function savePage(server, folder, { path, sha256 }) {
  const target = resolve(folder, path);
  if (!target.startsWith(folder + sep)) throw new Stop(exits.refused, `${plain(path)} is outside the folder.`);
  const bytes = await readPage(server, path);
  if (hashOf(bytes) !== sha256)
    throw new Stop(exits.refused, `${plain(path)} does not match its hash in the list of files.`, {
      next: 'run the same command again',
    });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, bytes);
}

/** @type {Command} */
export const completion = {
  use: 'frontage completion bash|zsh|fish',
  about: 'Print a completion script for your shell. In bash: source <(frontage completion bash).',
  async run(server, [shell]) {
    const operations = await operationsOf(server);
    const words = [...Object.keys(commands), ...new Set(operations.map(({ noun }) => noun))].join(' ');
    const verbs = verbsOf(operations);
    if (shell === 'bash' || shell === 'zsh') console.log(bashScript(words, verbs, shell === 'zsh'));
    else if (shell === 'fish') console.log(fishScript(words, verbs));
    else throw usage('Specify a shell: bash, zsh or fish.', completion.use);
    return exits.done;
  },
};

/**
 * @param {string} words
 * @param {Map<string, string[]>} verbs
 * @param {boolean} isZsh
 */
function bashScript(words, verbs, isZsh) {
  const cases = [...verbs].map(([noun, list]) => `    ${noun}) list="${list.join(' ')}";;`);
  return [
    ...(isZsh ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_frontage() {',
    `  local list="${words}"`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it.
    '  [ "$COMP_CWORD" -gt 1 ] && list="" && case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac',
    '  [ "$COMP_CWORD" -gt 2 ] && list=""',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it.
    '  COMPREPLY=($(compgen -W "$list" -- "${COMP_WORDS[$COMP_CWORD]}"))',
    '}',
    'complete -o default -F _frontage frontage',
  ].join('\n');
}

/**
 * @param {string} words
 * @param {Map<string, string[]>} verbs
 */
function fishScript(words, verbs) {
  const lines = [...verbs].map(
    ([noun, list]) => `complete -c frontage -f -n "__fish_seen_subcommand_from ${noun}" -a "${list.join(' ')}"`,
  );
  return [`complete -c frontage -f -n __fish_use_subcommand -a "${words}"`, ...lines].join('\n');
}
