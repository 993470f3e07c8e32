/** Which posts are drafts. The platform decides before the site's code runs. Pure. */
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';

/** Front matter, found by the regular expression of the site framework, so that both agree on drafts. */
const frontMatter = /(?:^\uFEFF?|^\s*\n)(---|\+\+\+)([\s\S]*?\n)(?:---|\+\+\+)/;
const opening = /(?:^\uFEFF?|^\s*\n)(---|\+\+\+)[ \t]*\r?\n/;

/** A file whose front matter cannot be read; the message names the fault, not the file. */
export class UnreadableFrontMatter extends Error {}

/** Whether a file of this name can be marked as a draft. */
export function mayBeDraft(path: string): boolean {
  return /\.(mdx?|json|ya?ml|toml)$/i.test(path);
}

/** Whether the file contains `draft: true`. Throws UnreadableFrontMatter. */
export function isDraft(path: string, text: string): boolean {
  const data = readData(path.toLowerCase(), text);
  const draft =
    typeof data === 'object' && data !== null && !Array.isArray(data)
      ? (data as Record<string, unknown>).draft
      : undefined;
  return draft === true || (typeof draft === 'string' && draft.trim().toLowerCase() === 'true');
}

function readData(path: string, text: string): unknown {
  if (!path.endsWith('.md') && !path.endsWith('.mdx')) {
    if (path.endsWith('.json')) return parseJson(text);
    return readable(() => (path.endsWith('.toml') ? parseToml(text) : parseYaml(text)));
  }
  const found = frontMatter.exec(text);
  if (found) return readable(() => (found[1] === '+++' ? parseToml(found[2] ?? '') : parseYaml(found[2] ?? '')));
  if (opening.test(text)) throw new UnreadableFrontMatter('its front matter has no closing delimiter');
  return undefined;
}

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
