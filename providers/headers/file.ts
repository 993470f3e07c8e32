/**
 * The file `_headers` of a deployment, in the syntax of Netlify: a path on a line of its own, below it indented lines
 * `Name: value`, comments after `#` at the start of a line. Pure.
 */
import { isUtf8 } from 'node:buffer';
import type { HeaderRule } from '#providers/headers.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { printable } from '#providers/paths.ts';
import { placeholderFault, placeholdersOf } from '#providers/placeholders.ts';
import type { Store } from '#providers/store/store.ts';
import { errors } from '#runtime/errors.ts';

/** Read at publishing, never served. */
export const headersFile = '_headers';

const headerRulesMax = 100;
const fileBytesMax = 64 * 1024;
const pathLengthMax = 256;
const valueBytesMax = 4 * 1024;
/** Of all names together, each with its longest value: no response has more. */
const fieldBytesMax = 8 * 1024;

/** The header fields that a site may set. */
export const headerNames: ReadonlySet<string> = new Set([
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'cache-control',
  'content-disposition',
  'content-language',
  'content-security-policy',
  'content-security-policy-report-only',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'link',
  'permissions-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
  'x-robots-tag',
]);

type Writing = { path: string; fields: Map<string, string> };

/**
 * Parses the file. Rules of the same path are one rule; a name that is repeated in it has both values, separated by a
 * comma. Throws `invalid_headers`, which names the first invalid line.
 */
export function parseHeadersFile(content: Buffer): HeaderRule[] {
  if (content.length > fileBytesMax) throw unreadable(`is larger than ${fileBytesMax / 1024} KiB`);
  if (!isUtf8(content)) throw unreadable('is not UTF-8 text');
  const rules = new Map<string, Writing>();
  let current: Writing | undefined;
  const lines = content
    .toString()
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/);
  for (const [index, line] of lines.entries()) {
    const name = `Line ${index + 1} of ${headersFile}`;
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    if (text.startsWith('/') && !/^\s/.test(line)) {
      current = rules.get(text) ?? { path: readPath(name, text), fields: new Map() };
      rules.set(text, current);
      if (rules.size > headerRulesMax)
        throw refuse(name, `is rule ${rules.size}; the limit is ${headerRulesMax} rules`);
    } else {
      if (!current) throw refuse(name, `is not below a path that begins with a slash: ${printable(text)}`);
      addField(current.fields, name, text);
    }
  }
  requireShort([...rules.values()]);
  return [...rules.values()];
}

/** Throws `invalid_headers` if the file is invalid: a version with such a file does not go live. */
export async function requireUsableHeaders(
  store: Pick<Store, 'readAll'>,
  file: Pick<ManifestFile, 'sha256' | 'bytes'> | undefined,
): Promise<void> {
  if (!file) return;
  if (file.bytes > fileBytesMax) throw unreadable(`is larger than ${fileBytesMax / 1024} KiB`);
  const content = await store.readAll(file.sha256);
  if (!content) throw errors.storage_error(`The file ${headersFile} cannot be read at the moment.`);
  parseHeadersFile(content);
}

function readPath(name: string, path: string): string {
  const no = (fault: string) => refuse(name, `${fault}: ${printable(path)}`);
  if (path.length > pathLengthMax) throw no(`has a path longer than ${pathLengthMax} characters`);
  if (/[?#]/.test(path)) throw no('has a query or fragment in its path, but rules match paths only');
  if (/%2f|%5c|%2a|[\\\s\p{Cc}]/iu.test(path)) throw no('has a path that contains a character that is not allowed');
  if (path.startsWith('//')) throw no('has a path that begins with two slashes');
  const wrong = placeholderFault(path);
  if (wrong) throw no(wrong);
  if (placeholdersOf(path).length > 0 && path.replace(/\/\*$/, '').includes('*'))
    throw no('has a placeholder and a *, which can be only at the end of such a path');
  try {
    decodeURIComponent(path);
  } catch {
    throw no('has an invalid % escape');
  }
  return path;
}

function addField(fields: Map<string, string>, line: string, text: string): void {
  const colon = text.indexOf(':');
  const name = text.slice(0, colon).trim().toLowerCase();
  const value = text.slice(colon + 1).trim();
  if (colon < 1) throw refuse(line, `is neither a path nor a header (Name: value): ${printable(text)}`);
  if (!headerNames.has(name)) {
    throw refuse(
      line,
      `sets the header ${printable(name)}, which sites cannot set`,
      `Remove the line. Sites can set ${[...headerNames].join(', ')}.`,
    );
  }
  if (value === '') throw refuse(line, `sets ${name} to nothing`);
  if (!/^[\t\x20-\x7e]+$/.test(value)) throw refuse(line, `has a value of ${name} that is not printable ASCII`);
  if (value.length > valueBytesMax) throw refuse(line, `has a value longer than ${valueBytesMax} bytes`);
  const earlier = fields.get(name);
  fields.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
}

/** However the rules combine, the fields of one response fit the buffers of proxies. */
function requireShort(rules: readonly Writing[]): void {
  const longest = new Map<string, number>();
  for (const { fields } of rules)
    for (const [name, { length }] of fields) longest.set(name, Math.max(length + name.length, longest.get(name) ?? 0));
  const bytes = [...longest.values()].reduce((sum, length) => sum + length, 0);
  if (bytes > fieldBytesMax)
    throw unreadable(`sets headers of up to ${bytes} bytes for one response; the limit is ${fieldBytesMax}`);
}

function refuse(line: string, fault: string, nextAction = 'Correct the line, then publish again.') {
  return errors.invalid_headers(`${line} ${fault}.`, { nextAction });
}

function unreadable(what: string) {
  return errors.invalid_headers(`The file ${headersFile} ${what}.`, {
    nextAction: 'Fix the file, then publish again.',
  });
}
