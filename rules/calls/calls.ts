/**
 * Next steps in the caller's own words. Code names a call by its operation, `call('site.publish', { id })`, which is a
 * mark inside a text: `Publish the site with ⟦site.publish {"id":"site_…"}⟧.` What sends the text to somebody renders
 * its marks for the surface of that caller.
 */
import { kindOf } from './kinds.ts';
import { type OperationName, operations } from './operations.ts';

/** How the caller makes calls: over HTTP, with the terminal client, or with the tools of an MCP server. */
export type Surface = 'http' | 'client' | 'mcp';

type Value = string | number | boolean | object;
/** By parameter or field. What the text does not know is absent. A site may be given with its name. */
export type Arguments = Readonly<Record<string, Value | undefined>>;

/** A mark for this call, in a text that a caller will read. */
export function call(operation: OperationName, values: Arguments = {}): string {
  const known = Object.entries(values).map(([name, value]) => [name, isNamed(value) ? pick(value) : value]);
  return `⟦${operation} ${JSON.stringify(Object.fromEntries(known))}⟧`;
}

type Named = { id: string; name?: string };
const isNamed = (value: unknown): value is Named =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Named>).id === 'string';
const pick = ({ id, name }: Named): Named => ({ id, ...(typeof name === 'string' ? { name } : {}) });

/**
 * The text with its calls in the words of the surface. `known` are ids of things that the request named, by the prefix
 * of their kind; they take the places that the text left open.
 */
export function renderCalls(text: string, surface: Surface, known: Readonly<Record<string, string>> = {}): string {
  if (!text.includes('⟦')) return text;
  return text.replaceAll(/⟦([a-z_]+\.[a-z_]+) (\{.*?\})⟧/g, (mark, name: string, json: string) => {
    if (!Object.hasOwn(operations, name)) return mark;
    const operation = name as OperationName;
    const [method = '', path = ''] = operations[operation].split(' ');
    const named = { operation, method, path, values: completed(path, JSON.parse(json), known) };
    return writers[surface](named);
  });
}

type NamedCall = { operation: OperationName; method: string; path: string; values: Record<string, Value> };

/** Every parameter of the path, with the shape of its value where the value is unknown. */
function completed(path: string, values: Record<string, Value>, known: Readonly<Record<string, string>>) {
  const parts = partsOf(path).map((part) => {
    const { prefix } = kindOf(path, part) ?? {};
    const open = known[prefix ?? part] ?? (prefix === undefined ? `<${part}>` : `${prefix}_…`);
    return [part, values[part] ?? open];
  });
  return { ...Object.fromEntries(parts), ...values };
}

const partsOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

/** The text for Markdown: each call as it is made over HTTP, as code. */
export const markdownCalls = (text: string): string =>
  text.replaceAll(/⟦[^⟧]*⟧/g, (mark) => `\`${renderCalls(mark, 'http')}\``);

/** What the call takes besides the parameters of its path. */
const othersOf = ({ path, values }: NamedCall): [string, unknown][] =>
  Object.entries(values)
    .filter(([name]) => !path.includes(`{${name}}`))
    .map(([name, value]) => [name, idOf(value)]);

const idOf = (value: unknown): unknown => (isNamed(value) ? value.id : value);

const writers: Record<Surface, (named: NamedCall) => string> = { http, client, mcp };

/** `POST /v1/sites/site_…/publish { "scope": "site" }` */
function http(named: NamedCall): string {
  const { method, path, values } = named;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, part: string) => String(idOf(values[part])));
  const others = othersOf(named);
  if (others.length === 0) return `${method} ${filled}`;
  if (method === 'GET' || method === 'DELETE')
    return `${method} ${filled}?${others.map(([name, value]) => `${name}=${value}`).join('&')}`;
  return `${method} ${filled} { ${others.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(', ')} }`;
}

/** Commands that are not the noun and verb of their operation. */
const commands: Partial<Record<OperationName, string>> = {
  'access.request': 'login',
  'access.redeem': 'login',
  'openapi.read': 'help',
  'preview.build': 'preview',
  'site.publish': 'publish',
  'skill.list': 'skill',
};

/** `frontage publish mira-bakery` */
function client(named: NamedCall): string {
  const { operation, path, values } = named;
  const words = commands[operation] ?? operation.replaceAll('_', '-').replace('.', ' ');
  const isLogin = words === 'login';
  const ids = isLogin ? [] : partsOf(path).map((part) => nameOf(values[part]));
  const flags = othersOf(named).map(([name, value]) => `--${name.replaceAll('_', '-')} ${shellWord(value)}`);
  return `\`${['frontage', words, ...ids, ...flags].join(' ')}\``;
}

const nameOf = (value: unknown): string => String(isNamed(value) ? (value.name ?? value.id) : value);

function shellWord(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /^[\w.@:/…-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Tools of their own. Every other operation is called through `read_operations` or `call_operations`. */
export const everydayTools = [
  'account.read',
  'comment.list',
  'comment.reply',
  'deployment.list',
  'deployment.read',
  'deployment.restore',
  'form.submissions',
  'inbox.read',
  'preview.build',
  'preview.publish',
  'site.create',
  'site.list',
  'site.publish',
  'site.read',
  'skill.read',
  'source.commit',
  'source.files',
] as const satisfies readonly OperationName[];

/** What has no tool, because it needs no token. */
const withoutTool: Partial<Record<OperationName, string>> = {
  'access.request': 'a new connection',
  'access.redeem': 'the connection',
  'openapi.read': '`find_operations`',
};

/** `site_publish {"id":"site_…"}` */
function mcp({ operation, method, values }: NamedCall): string {
  const words = withoutTool[operation];
  if (words !== undefined) return words;
  const given = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, idOf(value)]));
  if ((everydayTools as readonly string[]).includes(operation))
    return `\`${toolName(operation)} ${JSON.stringify(given)}\``;
  const one = { operation: toolName(operation), ...(Object.keys(given).length > 0 ? { arguments: given } : {}) };
  return `\`${method === 'GET' ? 'read' : 'call'}_operations ${JSON.stringify({ calls: [one] })}\``;
}

/** `site_publish`: clients accept only letters, digits, `_` and `-`. */
export const toolName = (operation: string): string => operation.replace('.', '_');
