/** `clone` and `git-credential`. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { json, siteOf } from '../call.js';
import { show } from '../output.js';
import { client, emailPlaceholder, exits, readConfig, Stop, usage } from '../server.js';

/** @typedef {import('./commands.js').Command} Command */

/** @param {string} text */
export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Clones both repositories of a site. From then on, git gets its credentials from this client.
 * @param {import('../server.js').Server} server
 * @param {any} site
 * @param {{ source: string, content: string }} folders
 */
export function cloneInto(server, site, folders) {
  const { source, content } = site.git;
  if (![source, content].every((url) => url.startsWith(`${server.baseUrl}/git/`)))
    throw new Stop(exits.refused, 'This server does not host the site’s repositories.');
  const helper = [
    // Clears git's list of helpers: a global one would store a password that expires in an hour.
    `credential.${server.baseUrl}.helper=`,
    `credential.${server.baseUrl}.helper=!${quoted(process.execPath)} ${quoted(client)} git-credential`,
    `credential.${server.baseUrl}.useHttpPath=true`,
  ];
  const settings = helper.flatMap((setting) => ['--config', setting]);
  for (const [url, into] of [
    [source, folders.source],
    [content, folders.content],
  ])
    runGit(server, ['clone', ...settings, '--', url, into]);
}

/**
 * Runs git, with its output on the terminal.
 * @param {import('../server.js').Server} server
 * @param {string[]} args
 */
export function runGit(server, args) {
  const env = { ...process.env, FRONTAGE_URL: server.baseUrl };
  const { status } = spawnSync('git', args, { stdio: ['ignore', 2, 2], env });
  if (status !== 0) throw new Stop(exits.refused, 'git failed; see its output above.');
}

/** @type {Command} */
export const clone = {
  use: 'frontage clone <site> [folder]',
  about:
    'Clone both repositories; the content goes into the folder where the build mounts it. From then on, git gets its credentials from this client.',
  async run(server, [named, folder], { json: asJson }) {
    const site = await siteOf(server, named);
    if (!folder && !/^[a-z0-9][a-z0-9-]*$/.test(site.name))
      throw usage('Specify a folder for the clone: the site’s name is not a valid folder name.', clone.use);
    const target = resolve(folder ?? site.name);
    cloneInto(server, site, { source: target, content: join(target, 'src', 'content') });
    return show({ site_id: site.id, source: target, content: join(target, 'src', 'content') }, { json: asJson });
  },
};

/** @type {Command} */
export const gitCredential = {
  use: 'frontage git-credential get',
  about:
    'Supply credentials to git. The clone command configures git to use this credential helper; see gitcredentials(7).',
  async run(server, [action]) {
    if (action !== 'get') return exits.done;
    const request = Object.fromEntries(
      (await readAll(process.stdin))
        .split('\n')
        .filter(Boolean)
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const [, siteId, isContent] = /^git\/(site_\w+)(\.content)?\.git/.exec(request.path ?? '') ?? [];
    const baseUrl = `${request.protocol}://${request.host}`;
    // A token is sent only to its own server.
    const token = baseUrl === server.baseUrl ? server.token : readConfig().servers[baseUrl]?.token;
    if (!siteId || (!token && baseUrl !== server.baseUrl)) return exits.done;
    if (!token) {
      // Stops git, which would otherwise ask for a user name and a password.
      process.stdout.write('quit=1\n');
      throw new Stop(exits.person, `You are not signed in to ${baseUrl}.`, {
        next: `frontage login --url ${baseUrl} --email ${emailPlaceholder}`,
      });
    }
    /** @param {string} access */
    const passwordFor = (access) =>
      json({ baseUrl, token }, 'POST', `/v1/sites/${siteId}/git-credentials`, {
        body: { repository: isContent ? 'content' : 'source', access, expires_in_seconds: 3600 },
      });
    const { username, password } = await passwordFor('write').catch((stop) => {
      // An archived site is read-only.
      if (stop.body?.error?.code !== 'site_archived') throw stop;
      return passwordFor('read');
    });
    // A further line would be another field of git's protocol.
    if (/[\n\0]/.test(`${username}${password}`))
      throw new Stop(exits.refused, 'The server returned an invalid password.');
    process.stdout.write(`username=${username}\npassword=${password}\n`);
    return exits.done;
  },
};
