/** `publish`, `preview`, `deploy` and `open`. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { finishBuild, follow, logLive } from '../builds.js';
import { call, gapMsMax, json, siteOf } from '../call.js';
import { log, plain, show, toJson } from '../output.js';
import { exits, hashOf, Stop, usage } from '../server.js';

/** @typedef {import('./commands.js').Command} Command */

/** @type {Command} */
export const publish = {
  use: 'frontage publish <site> [--scope site|posts]',
  about: 'Build the pushed commits, show the log, and make the result live.',
  async run(server, [named], { flags, json: asJson }) {
    const site = await siteOf(server, named);
    const started = await json(server, 'POST', `/v1/sites/${site.id}/publish`, {
      body: { scope: flags.scope ?? 'site' },
      headers: { prefer: 'respond-async' },
      gapMs: gapMsMax,
    });
    const settled = await follow(server, started, asJson);
    if (!asJson && settled.status === 'live') logLive(settled, site);
    return finishBuild(settled, asJson);
  },
};

/** @type {Command} */
export const preview = {
  use: 'frontage preview <site> [slot]',
  about: 'Build a preview slot (1 by default), show the log, and print its address.',
  async run(server, [named, slot = '1'], { json: asJson }) {
    const site = await siteOf(server, named);
    const path = `/v1/sites/${site.id}/previews/${encodeURIComponent(slot)}`;
    const started = await json(server, 'POST', path, { headers: { prefer: 'respond-async' }, gapMs: gapMsMax });
    if (started.status !== 'building') return show(started, { json: asJson });
    const build = await follow(server, { id: started.build_id, status: 'queued' }, asJson);
    if (build.error) return finishBuild(build, asJson);
    const built = await json(server, 'GET', path, { gapMs: gapMsMax });
    if (!asJson && built.address) log(`✓ Preview slot ${built.slot} is at ${plain(built.address)}`);
    return show(built, { json: asJson });
  },
};

/** @type {Command} */
export const deploy = {
  use: 'frontage deploy <site> <folder>',
  about: 'Publish output that was built elsewhere. Only files that the server does not have yet are uploaded.',
  async run(server, [named, folder], { json: asJson }) {
    if (!folder) throw usage('Specify the folder that contains the build output.', deploy.use);
    const site = await siteOf(server, named);
    const files = await filesBelow(folder);
    const { id } = await json(server, 'POST', `/v1/sites/${site.id}/deployments`, { body: {} });
    let sent = 0;
    for (let from = 0; from < files.length; from += 1000) {
      const part = files.slice(from, from + 1000);
      const { missing } = await json(server, 'POST', `/v1/deployments/${id}/manifest`, {
        body: { files: part.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })) },
      });
      for (const sha256 of missing) {
        const file = part.find((one) => one.sha256 === sha256)?.file;
        if (!file) throw new Stop(exits.refused, 'The server requested a file that is not in the manifest.');
        await call(server, 'PUT', `/v1/deployments/${id}/files/${sha256}`, { file });
        sent += 1;
      }
    }
    if (!asJson) log(`${sent} of ${files.length} files needed to be uploaded.`);
    const completed = await json(server, 'POST', `/v1/deployments/${id}/complete`, { body: {}, gapMs: gapMsMax });
    return finishBuild(await follow(server, completed, asJson), asJson);
  },
};

/** @param {string} folder */
async function filesBelow(folder) {
  const items = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw usage(`The folder ${folder} cannot be read.`);
  });
  return items
    .filter((item) => item.isFile())
    .map((item) => {
      // `path` is the name of `parentPath` in Node 20 before 20.12.
      const file = join(item.parentPath ?? /** @type {any} */ (item).path, item.name);
      const bytes = readFileSync(file);
      const path = relative(folder, file).split(sep).join('/');
      return { file, path, bytes: bytes.length, sha256: hashOf(bytes) };
    });
}

/** @type {Command} */
export const open = {
  use: 'frontage open <site>',
  about: 'Print the site’s address and, on a terminal, open it in a browser.',
  async run(server, [named], { json: asJson }) {
    const { address } = await siteOf(server, named);
    if (!/^https?:\/\/[\w.:[\]-]+\/?$/.test(address)) throw new Stop(exits.refused, 'The site has no valid address.');
    console.log(asJson ? toJson({ address }) : address);
    /** @type {Partial<Record<NodeJS.Platform, string>>} */
    const openers = { darwin: 'open', win32: 'explorer' };
    if (process.stdout.isTTY)
      spawn(openers[process.platform] ?? 'xdg-open', [address], { stdio: 'ignore', detached: true })
        .on('error', () => {})
        .unref();
    return exits.done;
  },
};
