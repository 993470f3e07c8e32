/** `publish`, `preview`, `deploy` and `open`. */
import { spawn } from 'node:child_process';
import { finishBuild, follow, logLive } from '../builds.js';
import { gapMsMax, json, siteOf } from '../call.js';
import { withArchive } from '../folder-archive.js';
import { log, plain, show, toJson } from '../output.js';
import { exits, Stop, usage } from '../server.js';

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
  about: 'Publish output that was built elsewhere. The folder is sent as one archive.',
  async run(server, [named, folder], { json: asJson }) {
    if (!folder) throw usage('Specify the folder that contains the build output.', deploy.use);
    const site = await siteOf(server, named);
    const { id, leftOut } = await withArchive(folder, async (file) => {
      const { id } = await json(server, 'POST', `/v1/sites/${site.id}/deployments`, { body: {} });
      const headers = { 'content-type': 'application/gzip' };
      const { left_out: leftOut } = await json(server, 'POST', `/v1/deployments/${id}/archive`, { file, headers });
      return { id, leftOut };
    });
    if (!asJson && leftOut.length > 0) log(`Left out: ${leftOut.map(plain).join(', ')}`);
    const completed = await json(server, 'POST', `/v1/deployments/${id}/complete`, { body: {}, gapMs: gapMsMax });
    return finishBuild(await follow(server, completed, asJson), asJson);
  },
};

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
