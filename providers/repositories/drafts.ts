/** Which posts are drafts. The platform decides before the site's code runs. Pure. */
import { createRequire } from 'node:module';
import { parse as parseToml } from 'smol-toml';
import { extensionOf } from '#providers/paths.ts';

const load = createRequire(import.meta.url);
/** Loaded at its first use: its 70 modules delay each start. */
const yaml = (): typeof import('yaml') => load('yaml');

/** Front matter, found by the regular expression of the site framework, so that both agree on drafts. */
const frontMatter = /(?:^\uFEFF?|^\s*\n)(---|\+\+\+)([\s\S]*?\n)(?:---|\+\+\+)/;
const opening = /(?:^\uFEFF?|^\s*\n)(---|\+\+\+)[ \t]*\r?\n/;

/** A file whose front matter cannot be read; the message names the fault, not the file. */
export class UnreadableFrontMatter extends Error {}

/** Whether a file of this name can be marked as a draft. */
export function mayBeDraft(path: string): boolean {
  return /\.(mdx?|mdoc|json|ya?ml|toml)$/i.test(path);
}

/** The part of a file that says whether it is a draft. */
export type DraftData = { format: 'json' | 'toml' | 'yaml'; text: string };

/** Undefined for a post without front matter. Throws UnreadableFrontMatter. */
export function draftDataOf(path: string, text: string): DraftData | undefined {
  const extension = extensionOf(path);
  if (!['md', 'mdx', 'mdoc'].includes(extension))
    return { format: extension === 'json' || extension === 'toml' ? extension : 'yaml', text };
  const [, delimiter, matter = ''] = frontMatter.exec(text) ?? [];
  if (delimiter !== undefined) return { format: delimiter === '+++' ? 'toml' : 'yaml', text: matter };
  if (opening.test(text)) throw new UnreadableFrontMatter('its front matter has no closing delimiter');
  return undefined;
}

/** Whether a post is a draft, and whether it says so in other words than `draft: true`. */
export type DraftMark = 'draft' | 'unusual draft' | 'no draft';

/**
 * Whether it contains `draft: true`, or means it: the key in any letter case, with a value that YAML 1.1 or 1.2 reads as true, or its text.
 * Throws UnreadableFrontMatter. The time may be the square of its length.
 */
export function draftMarkOf({ format, text }: DraftData): DraftMark {
  const data = read[format](text);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'no draft';
  const marks = Object.entries(data).filter(([key, value]) => key.trim().toLowerCase() === 'draft' && isTrue(value));
  if (marks.length === 0) return 'no draft';
  return marks.some(([key, value]) => key === 'draft' && value === true) ? 'draft' : 'unusual draft';
}

/** YAML 1.1 (yaml.org/type/bool.html) has more words for true than 1.2, which reads them as text. */
function isTrue(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(true|yes|on|y|1)$/i.test(value.trim()));
}

const read: Record<DraftData['format'], (text: string) => unknown> = {
  json: parseJson,
  toml: (text) => readable(() => parseToml(text)),
  yaml: (text) => readable(() => yaml().parse(text)),
};

/** The parser's own message would quote the post. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new UnreadableFrontMatter('it is not valid JSON');
  }
}

function readable(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new UnreadableFrontMatter(`its front matter is not valid: ${reason}`);
  }
}
