/**
 * The skill tree: the pages that teach an agent to build a good site here. Its files are in this folder, in the Agent Skills format (`SKILL.md` with
 * front matter, further pages on demand). `{base_url}` becomes this installation's address. A part between `<!-- with forms -->` and `<!-- end -->`
 * is removed where that capability is off; a page that is then empty is not in the tree. A part `with mcp` is for agents that have tools, one
 * `with shell` for those that send requests or run the terminal client, and `with http` for the former of these only.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { catalog, remedyInMarkdown } from '#runtime/errors.ts';
import { bundleClient, clientPath } from './client-bundle.ts';

export type SkillFile = { path: string; bytes: Buffer; sha256: string; type: string };
/** A page as it is read over HTTP, and its text for the other surfaces, whose calls are still those of HTTP. */
export type SkillPage = SkillFile & { texts: Readonly<Record<Surface, string>> };
export type PackageGroup = { name: string; packages: readonly { name: string; version: string }[] };
export type SkillTree = { version: string; files: ReadonlyMap<string, SkillPage> };

const here = import.meta.dirname;
const types: Record<string, string> = {
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
};

/** The tree of an installation with these capabilities. The version is a hash of its contents: 16 hex digits. */
export async function loadSkillTree({
  baseUrl,
  packages,
  isOn,
}: {
  baseUrl: string;
  /** What sites can import, by purpose. */
  packages: readonly PackageGroup[];
  isOn(capability: string): boolean;
}): Promise<SkillTree> {
  const sources = new Map<string, string>();
  for (const path of await listPaths()) {
    const source = path === clientPath ? bundleClient() : await readFile(join(here, path), 'utf8');
    sources.set(path, source.replaceAll('{base_url}', baseUrl));
  }
  sources.set('reference/errors.md', errorTable());
  sources.set('reference/packages.md', packagesPage(packages));
  const read = [...sources].map(([path, source]) => pageOf(path, source, isOn));
  const kept = read.filter(({ texts }) => texts.http !== '').sort((a, b) => (a.path < b.path ? -1 : 1));
  const files = new Map(kept.map((page) => [page.path, page]));
  const version = createHash('sha256');
  for (const { path, texts } of files.values()) version.update(`${path}\0${JSON.stringify(texts)}\n`);
  return { version: version.digest('hex').slice(0, 16), files };
}

/** The parts of a page that each surface has (`rules/calls/`). */
const partsOf = { http: ['http', 'shell'], client: ['shell'], mcp: ['mcp'] };
type Surface = keyof typeof partsOf;
const surfaces = Object.keys(partsOf) as Surface[];
const surfaceParts = Object.values(partsOf).flat();

function pageOf(path: string, source: string, isOn: (capability: string) => boolean): SkillPage {
  const textFor = (surface: Surface) =>
    path.endsWith('.md')
      ? removeDisabledParts(source, (name) =>
          surfaceParts.includes(name) ? partsOf[surface].includes(name) : isOn(name),
        )
      : source;
  const texts = Object.fromEntries(surfaces.map((surface) => [surface, textFor(surface)])) as Record<Surface, string>;
  return { ...fileOf(path, texts.http), texts };
}

function packagesPage(groups: readonly PackageGroup[]): string {
  const rows = groups.map(
    ({ name, packages }) => `| ${name} | ${packages.map((one) => `\`${one.name}\` ${one.version}`).join(', ')} |`,
  );
  return `# Packages

Every site is built with these packages, in these versions, without a network. They are installed already: import them, and enable integrations in \`astro.config.mjs\`. No other package can be added.

<!-- with shell -->
- Before a push, \`node frontage.mjs check <folder>\` lists what a source imports that is not here, with the nearest that is (\`GET /v1/packages?name=…\`).
<!-- end -->
<!-- with mcp -->
- \`GET /v1/packages?name=…\` says whether a package is here, and which is nearest.
<!-- end -->
- Plugins of remark and rehype: \`markdown: { processor: unified({ remarkPlugins: [...], rehypePlugins: [...] }) }\`, with \`unified\` from \`@astrojs/markdown-remark\`.
- Two frameworks that use JSX need \`include\` in their integrations, so that each compiles its own folder.
- For everything else, build elsewhere and deploy the output<!-- with shell -->: \`node frontage.mjs deploy <site> <folder>\`<!-- end -->.

| For | Packages |
| --- | --- |
${rows.join('\n')}
`;
}

/** A page's first heading, or its path if it has none. */
export const titleOf = ({ path, bytes }: SkillFile): string => /^# (.+)$/m.exec(bytes.toString())?.[1] ?? path;

/** Removes the parts of disabled capabilities, and the markers of the others. Parts may be nested. */
export function removeDisabledParts(text: string, isOn: (capability: string) => boolean): string {
  let kept = '';
  const shown = [true];
  for (const { words, mark } of pieces(text)) {
    if (shown.at(-1)) kept += words;
    if (mark === 'end') shown.pop();
    else if (mark !== undefined) shown.push(shown.at(-1) === true && isOn(mark.with));
    if (shown.length === 0) throw new Error(`an end marker has no matching start marker, after: ${words.slice(-60)}`);
  }
  if (shown.length > 1) throw new Error(`a part is not closed: ${text.slice(0, 60)}`);
  const tidy = kept.replace(/\n{3,}/g, '\n\n').trim();
  return tidy === '' ? '' : `${tidy}\n`;
}

/** Pieces of text, each with the marker that follows it. A marker alone on a line includes its line break. */
function* pieces(text: string): Generator<{ words: string; mark: { with: string } | 'end' | undefined }> {
  let from = 0;
  for (const found of text.matchAll(/^<!-- (?:with (\w+)|end) -->\n|<!-- (?:with (\w+)|end) -->/gm)) {
    const capability = found[1] ?? found[2];
    yield { words: text.slice(from, found.index), mark: capability === undefined ? 'end' : { with: capability } };
    from = found.index + found[0].length;
  }
  yield { words: text.slice(from), mark: undefined };
}

async function listPaths(): Promise<string[]> {
  const items = await readdir(here, { recursive: true, withFileTypes: true });
  const paths = items.filter((item) => item.isFile()).map((item) => relative(here, join(item.parentPath, item.name)));
  return paths.map((path) => path.split(sep).join('/')).filter((path) => extname(path) in types);
}

/** A file of the tree with this text. */
export function fileOf(path: string, text: string): SkillFile {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { path, bytes, sha256, type: types[extname(path)] as string };
}

function errorTable(): string {
  const rows = Object.entries(catalog).map(([code, { status, retryable, when }]) => {
    const again = retryable === true ? 'yes' : retryable === false ? 'no' : 'see the response';
    return `| \`${code}\` | ${status} | ${again} | ${when} | ${remedyInMarkdown(code)} |`;
  });
  return `# Errors

Every error is \`{ "error": { code, message, retryable, next_action?, request_id?, detail? } }\`: \`request_id\` is present if the service is at fault, and \`detail\` contains the log of a failed build. Relay \`message\` to the owner and follow \`next_action\`: it is more specific than this
table. Retry a request only if \`retryable\` is true (after \`retry-after\` seconds if that header is present). \`plan_limit\` means a limit of the plan, which a larger plan or a smaller request avoids; \`rate_limited\` ends after a while.

| Code | Status | Retry | When | What to do |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
