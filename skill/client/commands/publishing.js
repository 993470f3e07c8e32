/** `publish`, `preview`, `deploy` and `open`. */
import { spawn } from 'node:child_process';
import { finishBuild, follow, logLive } from '../builds.js';
import { allItems, gapMsMax, json, siteOf } from '../call.js';
import { withArchive } from '../folder-archive.js';
import { log, plain, show, toJson } from '../output.js';
import { exits, Stop, usage } from '../server.js';

/** @typedef {import('./commands.js').Command} Command */
/** @typedef {import('../server.js').Server} Server */

/** @type {Command} */
export const publish = {
  use: 'frontage publish <site> [--scope site|posts] [--quiet]',
  about: 'Build the pushed commits, show the log, and make the result live.',
  async run(server, [named], { flags, json: asJson, quiet }) {
    const site = await siteOf(server, named);
    const started = await json(server, 'POST', `/v1/sites/${site.id}/publish`, {
      body: { scope: flags.scope ?? 'site' },
      headers: { prefer: 'respond-async' },
      gapMs: gapMsMax,
    });
    const settled = await follow(server, started, asJson || quiet);
    if (!asJson && settled.status === 'live') logLive(settled, site);
    return finishBuild(settled, { asJson, quiet });
  },
};

/** @type {Command} */
export const restore = {
  use: 'frontage restore <site> [version]',
  about: 'Make an earlier version live again: the one that was live before, or the version with this number.',
  async run(server, [named, number], { json: asJson }) {
    if (number !== undefined && !/^\d{1,9}$/.test(number))
      throw usage('Specify the number of a version.', `frontage deployment list ${plain(named)}`);
    const site = await siteOf(server, named);
    const earlier = await earlierVersion(server, site, number === undefined ? undefined : Number(number));
    const restored = await json(server, 'POST', `/v1/deployments/${earlier.id}/restore`);
    if (!asJson && restored.status === 'live') logLive(restored, site);
    return show(asJson ? restored : { id: restored.id, status: restored.status }, { json: asJson });
  },
};

/**
 * The version with this number, or the one that was live before the present one.
 * @param {Server} server
 * @param {any} site
 * @param {number | undefined} number
 */
async function earlierVersion(server, site, number) {
  let found;
  for await (const one of allItems(server, `/v1/sites/${site.id}/deployments`)) {
    if (number === undefined ? !one.restorable || one.id === site.live_deployment_id : one.number !== number) continue;
    if (found === undefined || String(one.live_at ?? '') > String(found.live_at ?? '')) found = one;
  }
  if (found) return found;
  throw new Stop(
    exits.refused,
    number === undefined ? 'The site has no earlier version.' : `The site has no version ${number}.`,
    {
      next: `frontage deployment list ${plain(site.name)}`,
      code: 'not_found',
    },
  );
}

/** @type {Command} */
export const preview = {
  use: 'frontage preview <site> [slot] [--quiet]',
  about: 'Build a preview slot (1 by default), show the log, and print its address.',
  async run(server, [named, slot = '1'], { json: asJson, quiet }) {
    const site = await siteOf(server, named);
    const path = `/v1/sites/${site.id}/previews/${encodeURIComponent(slot)}`;
    const started = await json(server, 'POST', path, { headers: { prefer: 'respond-async' }, gapMs: gapMsMax });
    if (started.status !== 'building') return show(started, { json: asJson });
    const build = await follow(server, { id: started.build_id, status: 'queued' }, asJson || quiet);
    if (build.error) return finishBuild(build, { asJson, quiet });
    const built = await json(server, 'GET', path, { gapMs: gapMsMax });
    if (!asJson && built.address) log(`✓ Preview slot ${built.slot} is at ${plain(built.address)}`);
    return show(built, { json: asJson });
  },
};

/** @type {Command} */
export const deploy = {
  use: 'frontage deploy <site> <folder> [--quiet]',
  about:
    'Publish output that was built elsewhere. The folder is sent as one archive, without hidden files except .well-known.',
  async run(server, [named, folder], { json: asJson, quiet }) {
    if (!folder) throw usage('Specify the folder that contains the build output.', deploy.use);
    const site = await siteOf(server, named);
    const { id, leftOut } = await withArchive(folder, async (file, notSent) => {
      const { id } = await json(server, 'POST', `/v1/sites/${site.id}/deployments`, { body: {} });
      const headers = { 'content-type': 'application/gzip' };
      const { left_out: leftOut } = await json(server, 'POST', `/v1/deployments/${id}/archive`, { file, headers });
      return { id, leftOut: [...notSent, ...leftOut] };
    });
    if (!asJson && leftOut.length > 0) log(`Left out: ${leftOut.map(plain).join(', ')}`);
    const completed = await json(server, 'POST', `/v1/deployments/${id}/complete`, { body: {}, gapMs: gapMsMax });
    const settled = await follow(server, completed, asJson || quiet);
    if (!asJson && settled.status === 'live') logLive(settled, site);
    return finishBuild(settled, { asJson, quiet });
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
