/** Usage and help of operations. */

/** @typedef {import('./description.js').Operation} Operation */

/** @param {string} name */
export const flagOf = (name) => name.replaceAll('_', '-');

/**
 * Whether a site may be named in place of its live version: not where that would change a version.
 * @param {Operation} operation
 */
export const takesLive = ({ path, method, verb }) =>
  path.startsWith('/v1/deployments/{id}') && (method === 'GET' || ['check', 'compare'].includes(verb));

/**
 * The arguments of an operation: a site by any of its names, everything else by its id.
 * @param {Operation} operation
 */
export function argumentsOf(operation) {
  const { path, parts } = operation;
  const [, of] = /\/([a-z-]+?)s?\/\{id\}/.exec(path) ?? [];
  const id = of === 'site' ? of : takesLive(operation) ? 'site|deployment-id' : `${of}-id`;
  return parts.map((part) => `<${part !== 'id' || !of ? flagOf(part) : id}>`);
}

/**
 * Whether the fields of the request are not known beforehand: those of a form.
 * @param {Operation} operation
 */
const takesFreeBody = ({ body }) => !!body && !body.properties;

/** @typedef {(schema: any) => any} ResolveRef */

/**
 * The parts of a schema that can be more than null, and whether it can be null.
 * @param {any} schema
 * @param {ResolveRef} resolveRef
 */
function variantsOf(schema, resolveRef) {
  const { anyOf, oneOf, ...one } = resolveRef(schema ?? {}) ?? {};
  const all = (anyOf ?? oneOf ?? [one]).map((/** @type {any} */ part) => resolveRef(part) ?? {});
  return { variants: all.filter((/** @type {any} */ { type }) => type !== 'null'), all };
}

/**
 * The shape of a value in one line: `{ key: string, price?: { amount: integer, per?: seat|booking } | null }`.
 * @param {any} schema
 * @param {ResolveRef} resolveRef
 * @returns {string}
 */
function shapeOf(schema, resolveRef, depth = 0) {
  const { all } = variantsOf(schema, resolveRef);
  return [...new Set(all.map((/** @type {any} */ one) => shapeOfOne(one, resolveRef, depth)))].join(' | ');
}

/**
 * @param {any} schema
 * @param {ResolveRef} resolveRef
 * @param {number} depth
 */
function shapeOfOne({ type, items, properties, required = [], enum: values, const: only }, resolveRef, depth) {
  if (values) return values.join('|');
  if (only !== undefined) return String(only);
  if (type === 'array') return `[${shapeOf(items, resolveRef, depth)}, …]`;
  if (!properties || depth > 4) return [type ?? 'any'].flat().join(' | ');
  const fields = Object.entries(properties).map(
    ([name, part]) => `${name}${required.includes(name) ? '' : '?'}: ${shapeOf(part, resolveRef, depth + 1)}`,
  );
  return `{ ${fields.join(', ')} }`;
}

/**
 * What the fields inside a structure mean, a line each.
 * @param {any} schema
 * @param {ResolveRef} resolveRef
 * @param {string} [path] Of the structure.
 * @returns {string[]}
 */
function notesOf(schema, resolveRef, path = '', depth = 0) {
  if (depth > 4) return [];
  return variantsOf(schema, resolveRef).variants.flatMap((/** @type {any} */ { items, properties }) => [
    ...(items ? notesOf(items, resolveRef, path, depth + 1) : []),
    ...Object.entries(properties ?? {}).flatMap(([name, part]) => {
      const own = path === '' ? name : `${path}.${name}`;
      const text = resolveRef(part)?.description ?? part.description;
      const note = typeof text === 'string' ? [`${' '.repeat(30)}${own}: ${text}`] : [];
      return [...note, ...notesOf(part, resolveRef, own, depth + 1)];
    }),
  ]);
}

/**
 * The fields and the query parameters that a call cannot do without.
 * @param {Operation} operation
 * @returns {string[]}
 */
export const requiredOf = ({ query, body }) => [
  ...(body?.required ?? []),
  ...query.filter(({ required }) => required).map(({ name }) => name),
];

/** @param {Operation} operation */
export function usageOf(operation) {
  const { noun, verb, query, body, takesFile, givesFile } = operation;
  const names = [
    ...Object.keys(body?.properties ?? {}),
    ...query.map(({ name }) => name),
    ...(givesFile ? ['to'] : []),
  ];
  const required = requiredOf(operation).map((name) => `--${flagOf(name)} …`);
  const more = names.length > required.length ? ['[options]'] : [];
  const file = [...(takesFile ? ['--file …'] : []), ...(takesFreeBody(operation) ? ['--body …'] : [])];
  return ['frontage', noun, verb, ...argumentsOf(operation), ...file, ...required, ...more].join(' ');
}

/** @param {Operation} operation */
export const summaryOf = (operation) => `${usageOf(operation)}\n    ${operation.summary}.`;

/** @param {Operation} operation */
export function helpOf(operation) {
  const { summary, description, query, body, takesFile, givesFile, resolveRef } = operation;
  /**
   * @param {string} name
   * @param {any} schema
   * @param {boolean} isRequired
   */
  const line = (name, schema, isRequired) => {
    const { variants } = variantsOf(schema, resolveRef);
    const isStructure = variants.some((/** @type {any} */ { type }) => ['array', 'object'].includes(type));
    const shape = isStructure ? `JSON: ${shapeOf(schema, resolveRef)}` : schema?.enum?.join(' | ');
    const text = [isRequired && 'required.', shape, schema?.description].filter(Boolean).join(' ');
    return [`  --${flagOf(name).padEnd(24)} ${text}`, ...notesOf(schema, resolveRef)].join('\n');
  };
  const flags = [
    ...(takesFile ? [line('file', { description: 'The file to send.' }, true)] : []),
    ...(takesFreeBody(operation) ? [line('body', { description: 'The request, as a JSON object.' }, true)] : []),
    ...Object.entries(body?.properties ?? {}).map(([name, schema]) =>
      line(name, schema, body.required?.includes(name)),
    ),
    ...query.map((one) =>
      // A list in a query is the option repeated, not JSON.
      line(
        one.name,
        { ...one.schema, anyOf: undefined, description: one.description ?? one.schema?.description },
        one.required,
      ),
    ),
    ...(givesFile ? [line('to', { description: 'The file to write.' }, false)] : []),
  ];
  const values =
    'The value @name is read from the file “name”, and the value - from standard input. Lists and objects are JSON. --body sets the whole request body.';
  return [
    usageOf(operation),
    '',
    `${summary}.${description ? ` ${description}` : ''}`,
    ...(flags.length > 0 ? ['', ...flags, '', values] : []),
  ].join('\n');
}
