/** The pages of the documentation: guides from `docs/`, the skill, the reference and the errors. Each is written once. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { renderCalls } from '#rules/calls/calls.ts';
import { catalog } from '#runtime/errors.ts';
import { type SkillTree, titleOf } from '#skill/tree.ts';
import { html } from '#web/html.ts';
import { markdownHtml, outsideLink } from '#web/markdown.ts';
import { type Contents, documentPage } from '#web/pages/platform/document.ts';
import { errorCatalog } from '#web/pages/platform/error-catalog.ts';
import { type OperationShown, operationIndex, referencePage } from '#web/pages/platform/reference.ts';
import type { Schemas } from '#web/pages/platform/reference-schemas.ts';
import { tagGroups, tagNamesOf } from './tags.ts';

/** The parts of an OpenAPI document that the reference shows. */
export type ApiDocument = {
  info: { description?: string };
  paths?: Record<string, Record<string, Omit<OperationShown, 'method' | 'path'>>>;
  components?: { schemas?: Schemas };
};
export type DocumentFile = { bytes: Buffer; gzip: Buffer; etag: string; headers: Record<string, string> };

const folder = fileURLToPath(new URL('../../docs/', import.meta.url));
/** The files of `docs/` that are pages here; their titles are the first headings. */
const guides = {
  Guides: ['tour', 'mails'],
  Operators: ['containers', 'settings', 'domains', 'operations', 'backups', 'upgrading'],
};
const quickStart = 'quick-start';

const textOf = (name: string) => readFileSync(`${folder}${name}.md`, 'utf8');
const firstHeading = (text: string) => /^# (.+)$/m.exec(text)?.[1] ?? '';

/** Finds the page or picture at a path; undefined if there is none. */
export function openDocumentation(baseUrl: string, skill: SkillTree, read: () => ApiDocument) {
  const written = new Map<string, DocumentFile>();
  const contents = contentsOf(skill);
  const titles = new Map(contents.flatMap(({ pages }) => pages.map(({ path, title }) => [path, title])));

  function write(path: string): DocumentFile {
    const article = articleAt(path);
    const { body, headers } = documentPage({ title: titles.get(path) ?? '', path, contents, article });
    const bytes = Buffer.from(body);
    const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`;
    return { bytes, gzip: gzipSync(bytes), etag, headers: { ...headers, 'cache-control': 'no-cache' } };
  }

  function articleAt(path: string) {
    if (path === '/docs') return markdown(textOf(quickStart).replaceAll('http://localhost:4400', baseUrl), 'docs/');
    if (path === '/docs/errors') return errorCatalog(shownErrors);
    if (path.startsWith('/docs/api')) return reference(path.slice('/docs/api/'.length));
    const file = skill.files.get(`${path.slice('/docs/skill/'.length)}.md`);
    if (path.startsWith('/docs/skill/') && file)
      return markdown(withoutFrontMatter(file.bytes.toString()), `skill/${file.path}`);
    return markdown(textOf(path.slice('/docs/'.length)), 'docs/');
  }

  function markdown(text: string, from: string) {
    const at = (href: string) => posix.join(posix.dirname(`${from}x`), href);
    const link = (href: string) => outsideLink(href) ?? linkTo(at(href), titles, skill);
    return markdownHtml(text, { link, picture: (href) => pictures.get(at(href)) ?? null }).body;
  }

  function reference(slug: string) {
    const { info, paths = {}, components } = read();
    const all = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]): OperationShown => ({ ...one, path, method: method.toUpperCase() })),
    );
    const inGroup = (names: string[]) => all.filter(({ tags }) => tags?.some((tag) => names.includes(tag)));
    const group = tagGroups.find((one) => one.slug === slug);
    if (group) {
      const names = tagNamesOf(group);
      return referencePage(group.name, names, inGroup(names), components?.schemas ?? {});
    }
    return html`<h1>API</h1>
${markdown(info.description ?? '', 'docs/')}
<p><a href="/openapi.json">The OpenAPI description</a></p>
${tagGroups.map((one) => html`<h2>${one.name}</h2>\n${operationIndex(inGroup(tagNamesOf(one)), `/docs/api/${one.slug}`)}`)}`;
  }

  return (path: string): DocumentFile | undefined => {
    if (!titles.has(path)) return undefined;
    const known = written.get(path) ?? write(path);
    written.set(path, known);
    return known;
  };
}

function contentsOf(skill: SkillTree): Contents {
  const guide = (name: string) => ({ title: firstHeading(textOf(name)), path: `/docs/${name}` });
  const skillPages = [...skill.files.values()].filter(
    ({ path }) => path.endsWith('.md') && path !== 'reference/errors.md',
  );
  return [
    { name: 'Start', pages: [{ title: firstHeading(textOf(quickStart)), path: '/docs' }, ...guides.Guides.map(guide)] },
    {
      name: 'API',
      pages: [
        { title: 'All calls', path: '/docs/api' },
        ...tagGroups.map(({ name, slug }) => ({ title: name, path: `/docs/api/${slug}` })),
        { title: 'Errors', path: '/docs/errors' },
      ],
    },
    {
      name: 'The skill for agents',
      pages: skillPages.map((file) => ({
        title: file.path === 'SKILL.md' ? 'Start here' : titleOf(file),
        path: `/docs/skill/${file.path.replace(/\.md$/, '')}`,
      })),
    },
    { name: 'For operators', pages: guides.Operators.map(guide) },
  ];
}

/** The page for a file of the repository, such as `docs/tour.md#preview`; null for files that are no pages. */
function linkTo(target: string, titles: ReadonlyMap<string, string>, skill: SkillTree): string | null {
  const [file = '', fragment] = target.split('#', 2);
  const page = `/${file.replace(/\.md$/, '')}`.replace('/skill/', '/docs/skill/');
  if (titles.has(page)) return fragment === undefined ? page : `${page}#${fragment}`;
  return skill.files.has(file.replace(/^skill\//, '')) ? `/${file}` : null;
}

const shownErrors = Object.entries(catalog).map(([code, row]) => ({
  code,
  ...row,
  remedy: renderCalls(row.remedy, 'http'),
}));

const withoutFrontMatter = (text: string) => text.replace(/^---\n[\s\S]*?\n---\n/, '');

const pictureFiles = readdirSync(`${folder}mails`, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.webp'),
);

/** The pictures of e-mails, by their paths in the repository. */
const pictures = new Map(
  pictureFiles.map((name) => {
    const path = `docs/mails/${name.replaceAll('\\', '/')}`;
    const bytes = readFileSync(`${folder}mails/${name}`);
    // The canvas of an extended file (RFC 9649 section 2.7).
    const [width, height] = [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    return [path, { src: `/${path}`, width, height, bytes }];
  }),
);

/** The picture at this path of our address; undefined for every other path. */
export const pictureAt = (path: string): Buffer | undefined => pictures.get(path.slice(1))?.bytes;
