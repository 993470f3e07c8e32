/** Pages that are written for HTTP, in the words of a model that has tools, or the terminal client, instead. Pure. */
import { call, renderCalls, toolName } from './calls.ts';
import { type OperationName, operations } from './operations.ts';

/** By method. Paths with fewer parameters come first: `/collaborators/me` before `/collaborators/{account_id}`. */
const byMethod = Map.groupBy(
  (Object.entries(operations) as [OperationName, string][]).map(([name, words]) => {
    const [method = '', path = ''] = words.split(' ');
    return { name, method, parts: path.split('/') };
  }),
  ({ method }) => method,
);
for (const known of byMethod.values()) known.sort((one, other) => openParts(one.parts) - openParts(other.parts));

function openParts(parts: readonly string[]): number {
  return parts.filter(isOpen).length;
}

/** Whether it only says what belongs here: `{id}`, `site_…`, `<path>`. */
function isOpen(part: string): boolean {
  return /[{<…]/.test(part);
}

/** The text with each call by the name of its operation: `inbox_read {"limit":5}` for `GET /v1/inbox?limit=5`. */
export function inToolNames(text: string): string {
  return text
    .replaceAll(
      /\b(GET|POST|PUT|PATCH|DELETE) (\/v1(?:\/[\w{}<>…-]+)+|\/b\/[\w{}]+\/(?:days|slots))(?:\?([^\s`"]+))?/g,
      (spelled, method: string, path: string, query: string | undefined) => {
        const found = operationAt(method, path.split('/'));
        if (!found) return spelled;
        const given = { ...found.given, ...valuesOf(query) };
        return `${toolName(found.name)}${Object.keys(given).length > 0 ? ` ${JSON.stringify(given)}` : ''}`;
      },
    )
    .replaceAll(queryAlone, (_spelled, query: string) => `\`${JSON.stringify(valuesOf(query))}\``)
    .replaceAll('Idempotency-Key', 'idempotency_key');
}

/** Parameters of a call that the text named before. */
const queryAlone = /`\?([\w=&…-]+)`/g;
const address = /(\/(?:v1|b)(?:\/[\w{}<>…-]+)+)(?:\?([^\s`"]+))?/;
/** A call, and the body that follows it. */
const whole = new RegExp(`\\b(GET|POST|PUT|PATCH|DELETE) ${address.source}(\`(?: with)? \`(\\{[^\`]*\\})(?=\`))?`, 'g');

/**
 * The text with each call as a command of the terminal client, with the fields of a body that follows it:
 * `frontage photo search --query wood` for `POST /v1/photos/search` with `{ "query": "wood" }`.
 */
export function inCommands(text: string): string {
  return text
    .replaceAll(whole, (spelled, method: string, path: string, query?: string, following = '', body = '') => {
      const found = operationAt(method, path.split('/'));
      if (!found) return spelled;
      const fields = fieldsOf(body);
      const values = { ...found.given, ...valuesOf(query), ...fields };
      const command = renderCalls(call(found.name, values), 'client').slice(1, -1);
      return fields ? command : `${command}${following}`;
    })
    .replaceAll(queryAlone, (_spelled, query: string) => {
      const flags = [...new URLSearchParams(query)].map(([name, value]) => `--${name.replaceAll('_', '-')} ${value}`);
      return `\`${flags.join(' ')}\``;
    });
}

/** What a body gives; undefined if it is not JSON. */
function fieldsOf(body: string): Record<string, string | number | boolean | object> | undefined {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The operation of this path, and what the path gives for its parameters. */
function operationAt(method: string, path: readonly string[]) {
  for (const { name, parts } of byMethod.get(method) ?? []) {
    if (parts.length !== path.length || !parts.every((part, at) => isOpen(part) || part === path[at])) continue;
    const given = parts.flatMap((part, at): [string, string][] =>
      isOpen(part) && !isOpen(path[at] ?? '') ? [[part.slice(1, -1), path[at] ?? '']] : [],
    );
    return { name, given: Object.fromEntries(given) };
  }
  return undefined;
}

/** Numbers and truths as such: tools take no text for them. */
function valuesOf(query = ''): Record<string, string | number | boolean> {
  const pairs = [...new URLSearchParams(query)].map(([name, value]): [string, string | number | boolean] => [
    name,
    /^(\d+|true|false)$/.test(value) ? JSON.parse(value) : value,
  ]);
  return Object.fromEntries(pairs);
}
