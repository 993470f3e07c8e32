/** `import`: makes a site from an Astro project, or from output that another generator has built. */
import { statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { json, siteOf } from '../call.js';
import { addressOf, folderIn, projectsBelow } from '../checkout.js';
import { archivedFiles } from '../folder-archive.js';
import { log, plain } from '../output.js';
import { besidePublic, planOf } from '../project.js';
import { changesOf } from '../project-settings.js';
import { exits, Stop, usage } from '../server.js';
import { missingFor } from './check.js';
import { cloneInto, quoted, runGit } from './git.js';
import { deploy, publish } from './publishing.js';

/** @typedef {import('./commands.js').Command} Command */
/** @typedef {import('../server.js').Server} Server */
/** @typedef {import('../project.js').Plan} Plan */
/** @typedef {import('../project-settings.js').Changes} Changes */

/** @type {Command} */
export const importProject = {
  use: 'frontage import <folder or git URL> [--root <folder in it>] [--site <site>] [--yes] | frontage import --built <folder> [--site <site>] [--yes]',
  about:
    'Make a site from an Astro project, or from built output: show what becomes of its files, ask, push and publish. The page of a folder on GitHub or GitLab is a git URL, too. Without --site the site is new, and named after the folder.',
  async run(server, [from], options) {
    const { flags } = options;
    const built = typeof flags.built === 'string' ? flags.built : undefined;
    const project = built ?? from;
    if (!project || (built && from)) throw usage('Specify one folder or git URL.', importProject.use);
    const address = built ? undefined : addressOf(project);
    const root = typeof flags.root === 'string' ? flags.root : (address?.root ?? '');
    if (flags.root === true || (built && root))
      throw usage('Specify a folder of a project as --root.', importProject.use);
    const home = await mkdtemp(join(tmpdir(), 'frontage-import-'));
    try {
      const folder = folderIn(address ? fetchProject(server, address, home) : existing(project), root);
      const plan = built ? undefined : await planOf(folder);
      const { size } = plan ? plan.source : new Set((await archivedFiles(folder)).files);
      const what = plan ? 'a project' : 'a site';
      if (size === 0) throw usage(`There are no files of ${what} in ${project}.`, importProject.use);
      const [below, ...more] = plan ? projectsBelow(plan) : [];
      if (below !== undefined) throw monorepo(below, more);
      const changes = plan && (await changesOf(folder, plan));
      if (plan && changes) await report(server, folder, plan, changes);
      if (changes?.faults.length) throw refusal(changes.faults);
      const named = typeof flags.site === 'string' ? flags.site : nameOf(root || (address?.url ?? resolve(project)));
      log(`→ ${flags.site ? 'Replaces what is in' : 'Makes'} the site ${plain(named)}, and publishes it.`);
      if (!flags.yes) await confirm();
      const site = flags.site ? await siteOf(server, named) : await createFor(server, named);
      if (!plan || !changes) return await deploy.run(server, [site.id, folder], { ...options, flags: {} });
      await push(server, site, { folder, plan, changes, home }).catch((error) => {
        if (!(error instanceof Stop)) throw error;
        const inside = flags.root ? ` --root ${quoted(root)}` : '';
        const next = `change the project, then: frontage import ${quoted(project)}${inside} --site ${site.name}`;
        throw new Stop(error.exit, error.message, { next });
      });
      return await publish.run(server, [site.id], { ...options, flags: {} });
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};

/** @param {string[]} faults */
function refusal(faults) {
  const next = 'Remove these lines, in a clone if the project is a git URL, then import its folder.';
  return new Stop(exits.refused, `Nothing has changed.\n${faults.join('\n')}`, { next });
}

/** @param {string} folder */
function existing(folder) {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw usage(`There is no folder ${folder}.`, importProject.use);
  return folder;
}

/**
 * @param {string} below
 * @param {string[]} more
 */
function monorepo(below, more) {
  const where = [below, ...more.slice(0, pathsShown - 1)].join(', ');
  const next = `add --root ${quoted(below)}; to keep the other folders, too, put root = "${below}" under [build] in frontage.toml`;
  return usage(`The root has no Astro project, but there is one in ${where}.`, next);
}

/**
 * @param {Server} server
 * @param {{ url: string, branch?: string }} address
 * @param {string} home
 */
function fetchProject(server, { url, branch }, home) {
  const into = join(home, 'project');
  const one = branch ? [`--branch=${branch}`] : [];
  runGit(server, ['clone', '--quiet', '--depth', '1', ...one, '--', url, into]);
  return into;
}

/** @param {string} place A path or a URL. */
const nameOf = (place) =>
  basename(place)
    .replace(/\.git$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'site';

/**
 * @param {Server} server
 * @param {string} name
 */
async function createFor(server, name) {
  const { id } = await json(server, 'POST', '/v1/sites', { body: { name, title: name, template: null } });
  return await siteOf(server, id);
}

/**
 * @param {Server} server
 * @param {string} folder
 * @param {Plan} plan
 * @param {Changes} changes
 */
async function report(server, folder, { source, content, dropped }, { notes }) {
  log(`${source.size} files go to the source, ${content.size} to the content, ${dropped.length} are left out.`);
  const moved = [...source].filter(([to, from]) => to !== from);
  /** @param {string} place */
  const into = (place) => moved.filter(([to, from]) => to === from.replace(/(^|\/)public\//, `$1${place}`));
  const [served, byEndpoint] = [into('src/static/'), into(besidePublic)];
  logByCause(served.map(([, path]) => ({ path, why: 'public/ → src/static/' })));
  logByCause(byEndpoint.map(([, path]) => ({ path, why: `public/ → ${besidePublic}, with endpoints in src/pages/` })));
  const shown = new Set([...served, ...byEndpoint]);
  for (const one of moved) if (!shown.has(one)) log(`  ${plain(one[1])} → ${plain(one[0])}`);
  logByCause(dropped.map(({ path, why }) => ({ path, why: `left out, ${why}` })));
  for (const note of notes) log(`  ! ${plain(note)}`);
  const taken = new Set([...source.values(), ...content.values()]);
  for (const [, path] of byEndpoint) taken.delete(path);
  for (const { name, nearest, files } of await missingFor(server, folder, (path) => taken.has(path)))
    log(
      `  not offered: ${plain(name)} in ${plain(files[0] ?? '')}${nearest ? `; nearest: ${plain(nearest)}` : ''}. A build that needs it fails.`,
    );
}

const pathsShown = 5;

/**
 * A line for each cause, with some of its paths.
 * @param {{ path: string, why: string }[]} places
 */
function logByCause(places) {
  for (const cause of new Set(places.map(({ why }) => why))) {
    const paths = places.filter(({ why }) => why === cause).map(({ path }) => plain(path));
    const more = paths.length > pathsShown ? ` and ${paths.length - pathsShown} more` : '';
    log(`  ${plain(cause)}: ${paths.slice(0, pathsShown).join(', ')}${more}`);
  }
}

async function confirm() {
  if (!process.stdin.isTTY) throw new Stop(exits.person, 'Nothing has changed.', { next: 'Repeat it with --yes.' });
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question('Do it? [y/N] ');
  asking.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Stop(exits.refused, 'Nothing has changed.');
}

const ignored = 'node_modules/\ndist/\n.astro/\nsrc/content/\n';
/** Those of the machine may lack a name, ask for a signature or change the ends of lines. */
const settings = [
  'user.name=frontage import',
  'user.email=import@frontage.invalid',
  'commit.gpgSign=false',
  'core.autocrlf=false',
];

/**
 * Replaces the files of both repositories, and pushes them.
 * @param {Server} server
 * @param {any} site
 * @param {{ folder: string, plan: Plan, changes: Changes, home: string }} imported
 */
async function push(server, site, { folder, plan, changes: { texts, added }, home }) {
  const clones = { source: join(home, 'source'), content: join(home, 'content') };
  cloneInto(server, site, clones);
  for (const repository of /** @type {const} */ (['content', 'source'])) {
    const clone = clones[repository];
    const kept = ['.git', 'package.json', 'package-lock.json'];
    for (const name of await readdir(clone)) if (!kept.includes(name)) await rm(join(clone, name), { recursive: true });
    for (const [to, from] of plan[repository]) {
      await mkdir(dirname(join(clone, to)), { recursive: true });
      const text = texts.get(from);
      if (text === undefined) await copyFile(join(folder, from), join(clone, to));
      else await writeFile(join(clone, to), text);
    }
    const further = repository === 'source' ? new Map([...added, ['.gitignore', ignored]]) : [];
    for (const [to, text] of further) {
      await mkdir(dirname(join(clone, to)), { recursive: true });
      await writeFile(join(clone, to), text);
    }
    /** @param {string[]} args */
    const git = (...args) => runGit(server, ['-C', clone, ...settings.flatMap((one) => ['-c', one]), ...args]);
    git('add', '--all', '--force');
    git('commit', '--quiet', '--allow-empty', '-m', 'Import the project');
    git('push', '--quiet', 'origin', 'HEAD:main');
  }
}
