/** Faults in a published version's output. They never block a publish; the inspection is bounded in time and size. */
import type { FoundWarnings, WarningKind } from '#db/deployments/deployment.ts';
import { headersFile } from '#providers/headers/file.ts';
import { type ManifestFile, parseManifest } from '#providers/manifest.ts';
import { printable } from '#providers/paths.ts';
import { publishedRedirects, redirectsFile } from '#providers/redirects/file.ts';
import {
  createRedirectTable,
  findRedirect,
  type RedirectRule,
  rewriteOf,
  rewriteStatus,
} from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';
import { addWarning } from './causes.ts';
import { formAt } from './forms.ts';
import { type PageFacts, readPage } from './page.ts';
import { findLocated, locatedMessage } from './photos.ts';
import { brokenRedirects } from './redirects.ts';

const formsMax = 1_000;
const pagesMax = 2_000;
const bytesMax = 48 * 1024 * 1024;
const largeBytes = 1_000_000;
const rulesFiles: ReadonlySet<string> = new Set([redirectsFile, headersFile]);

export type Inspected = {
  manifestSha256: string;
  /** The site's own addresses. */
  origins: readonly string[];
  /** The platform's address, where forms send to. */
  baseUrl: string;
  /** Redirects set by a call. */
  rules: readonly RedirectRule[];
  /** Time limit for reading pages. */
  timeoutMs: number;
};

/** Reads the version as data. Undefined if the store does not return its manifest. */
export async function inspect(
  store: Pick<Store, 'read' | 'readAll'>,
  { manifestSha256, origins, baseUrl, rules, timeoutMs }: Inspected,
): Promise<FoundWarnings | undefined> {
  const until = performance.now() + timeoutMs;
  const manifest = await store.readAll(manifestSha256);
  if (!manifest) return undefined;
  const files = parseManifest(manifest);
  const served = new Set(files.map(({ path }) => path).filter((path) => !rulesFiles.has(path)));
  const written = await ownRedirects(store, files);
  const tables = [rules, written].map(createRedirectTable);
  const leads = (path: string) => isServed(served, path) || isRuled(served, tables, path);
  const pages = files.filter(({ path }) => /\.html?$/i.test(path));
  const found = openFindings();
  if (!leads('')) found.add('no_home_page', '/', withoutFile(files));
  for (const { path, bytes } of files) {
    if (bytes > largeBytes)
      found.add('large_file', path, `${printable(path)} is ${megabytes(bytes)} and loads slowly for visitors.`);
  }
  for (const { from, to, message } of brokenRedirects([...rules, ...written], origins, leads))
    found.add('broken_redirect', from, message, { target: to });
  const read = await readPages(store, pages, until, (path, page) =>
    inspectPage(found, path, page, { origins, baseUrl, leads }),
  );
  const located = await findLocated(store, files, until);
  const [first] = located.paths;
  if (first !== undefined)
    found.add('photo_location', first, locatedMessage(located.paths), {
      count: located.paths.length,
      places: located.paths,
    });
  const photos = located.isComplete ? {} : { photosUnread: true };
  return { ...found.warnings, ...photos, pages: { read, all: pages.length } };
}

/** A redirect's target is checked apart; that of a rewrite is a file. */
function isRuled(served: ReadonlySet<string>, tables: Parameters<typeof findRedirect>[0], path: string): boolean {
  const match = findRedirect(tables, path);
  if (match?.rule.status !== rewriteStatus) return match !== undefined;
  const target = rewriteOf(match);
  return target !== undefined && isServed(served, target);
}

/** Most often the folder above or below the intended one. */
function withoutFile(files: readonly ManifestFile[]): string {
  const [home] = files
    .map(({ path }) => path)
    .filter((path) => path.endsWith('/index.html'))
    .sort((a, b) => a.length - b.length);
  const meant =
    home === undefined ? '' : ` ${printable(home)} exists. Did you mean to upload the contents of its folder?`;
  return `The home page returns 404: this version has no index.html at its root.${meant}`;
}

async function ownRedirects(store: Pick<Store, 'readAll'>, files: ManifestFile[]): Promise<RedirectRule[]> {
  const file = files.find(({ path }) => path === redirectsFile);
  const content = file && (await store.readAll(file.sha256));
  return content ? publishedRedirects(content, '') : [];
}

/** Reads pages in the manifest's order until time, bytes or pages run out. Returns how many were read. */
async function readPages(
  store: Pick<Store, 'read'>,
  pages: ManifestFile[],
  until: number,
  check: (path: string, page: PageFacts) => void,
): Promise<number> {
  let bytes = 0;
  let read = 0;
  for (const page of pages.slice(0, pagesMax)) {
    bytes += page.bytes;
    if (bytes > bytesMax || performance.now() > until) break;
    const content = await store.read(page.sha256);
    if (!content) continue;
    check(page.path, await readPage(content));
    read += 1;
  }
  return read;
}

function inspectPage(
  found: Findings,
  path: string,
  { hasTitle, imagesWithoutAlt, links, actions, forms, templateTexts, base, whole }: PageFacts,
  { origins, baseUrl, leads }: Pick<Inspected, 'origins' | 'baseUrl'> & { leads: (path: string) => boolean },
): void {
  const shown = printable(path);
  if (!hasTitle && whole)
    found.add('page_without_title', path, `${shown} has no title to show in search results and browser tabs.`);
  if (imagesWithoutAlt > 0) {
    const [images, have] = imagesWithoutAlt === 1 ? ['An image', 'has'] : [`${imagesWithoutAlt} images`, 'have'];
    found.add(
      'image_without_alt',
      path,
      `${images} on ${shown} ${have} no alt text. Describe each image, or set alt="" if it is decorative.`,
      { count: imagesWithoutAlt },
    );
  }
  for (const text of templateTexts) found.showsTemplate(path, printable(text));
  const [origin = 'http://site.invalid'] = origins;
  const page = URL.parse(
    path
      .split('/')
      .map(encodeURIComponent)
      .join('/')
      .replace(/(^|\/)index\.html$/, '$1'),
    `${origin}/`,
  );
  const from = (base === undefined ? undefined : URL.parse(base, page?.href)) ?? page;
  const sent = from ? [...actions].map((action) => formAt(action, from, baseUrl, origins)) : [];
  found.sends(path, new Set([...sent.filter((form) => form !== undefined), ...forms]));
  for (const link of links) {
    if (link === '' || link.startsWith('#') || !from) continue;
    const target = URL.parse(link, from.href);
    if (!target || !origins.includes(target.origin) || leads(pathOf(target))) continue;
    const to = printable(target.pathname);
    found.add('broken_link', path, `${shown} links to ${to}, which does not exist in this version.`, { target: to });
  }
}

/** Decoded, without its leading slash; undefined if it cannot be decoded. */
function pathOf({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname.slice(1));
  } catch {
    return '\0';
  }
}

/** Finds a file as the edge does: `/path` is `path`, `path.html` or `path/index.html`, with or without the trailing slash. */
export function isServed(files: ReadonlySet<string>, path: string): boolean {
  const page = path.endsWith('/') ? path.slice(0, -1) : path;
  const folder = page === '' ? '' : `${page}/`;
  if (files.has(`${folder}index.html`) || (page !== '' && files.has(`${page}.html`))) return true;
  return path !== '' && !path.endsWith('/') && files.has(path);
}

type Findings = ReturnType<typeof openFindings>;

function openFindings() {
  const warnings: Pick<FoundWarnings, 'items' | 'counts'> & { forms: NonNullable<FoundWarnings['forms']> } = {
    items: [],
    counts: {},
    forms: [],
  };
  return {
    warnings,
    add(
      kind: WarningKind,
      path: string,
      message: string,
      more: { count?: number; target?: string; places?: string[] } = {},
    ) {
      warnings.counts[kind] = (warnings.counts[kind] ?? 0) + (more.count ?? 1);
      addWarning(warnings.items, { kind, path, message, ...more });
    },
    /** A page with a text of a template, which waits for the owner's own. */
    showsTemplate(path: string, text: string) {
      const message = `${printable(path)} shows “${text}” of the template. Put the owner’s own words there, or remove it.`;
      this.add('template_text', path, message, { target: text });
    },
    /** A page that sends to these forms. */
    sends(path: string, forms: ReadonlySet<string>) {
      for (const form of forms) if (warnings.forms.length < formsMax) warnings.forms.push({ path, form });
    },
  };
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 100_000) / 10} MB`;
}
