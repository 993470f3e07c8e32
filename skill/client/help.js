/** Usage and help of operations. */

/** @typedef {import('./operations.js').Operation} Operation */

/** @param {string} name */
export const flagOf = (name) => name.replaceAll('_', '-');

/**
 * The arguments of an operation: a site by any of its names, everything else by its id.
 * @param {Operation} operation
 */
export function argumentsOf({ path, parts }) {
  const [, of] = /\/([a-z-]+?)s?\/\{id\}/.exec(path) ?? [];
  return parts.map((part) => `<${part !== 'id' || !of ? part : of === 'site' ? of : `${of}-id`}>`);
}

/**
 * The shape of a structure in one line, as an example.
 * @param {any} schema
 * @param {(schema: any) => any} resolveRef
 * @returns {string}
 */
function shapeOf(schema, resolveRef, depth = 0) {
  const { type, items, properties, required = [], enum: values } = resolveRef(schema ?? {});
  if (values) return values.join('|');
  if (type === 'array') return `[${shapeOf(items, resolveRef, depth)}, …]`;
  if (!properties || depth > 1) return typeof type === 'string' ? type : 'any';
  const fields = Object.entries(properties).map(([name, part]) => {
    const isPlain = !['array', 'object'].includes(resolveRef(part).type);
    return `${name}${required.includes(name) ? '' : '?'}${isPlain ? '' : `: ${shapeOf(part, resolveRef, depth + 1)}`}`;
  });
  return `{ ${fields.join(', ')} }`;
}

/** @param {Operation} operation */
export function usageOf(operation) {
  const { noun, verb, query = [], body, takesFile } = operation;
  const required = (body?.required ?? []).map((/** @type {string} */ name) => `--${flagOf(name)} …`);
  const more = query.length > 0 || Object.keys(body?.properties ?? {}).length > required.length ? ['[options]'] : [];
  const file = takesFile ? ['--file …'] : [];
  return ['frontage', noun, verb, ...argumentsOf(operation), ...file, ...required, ...more].join(' ');
}

/** @param {Operation} operation */
export const summaryOf = (operation) => `${usageOf(operation)}\n    ${operation.summary}.`;

/** @param {Operation} operation */
export function helpOf(operation) {
  const { summary, description, query, body, takesFile, resolveRef } = operation;
  /**
   * @param {string} name
   * @param {any} schema
   * @param {boolean} isRequired
   */
  const line = (name, schema, isRequired) => {
    const isStructure = ['array', 'object'].includes(resolveRef(schema ?? {})?.type);
    const shape = isStructure ? `JSON: ${shapeOf(schema, resolveRef)}` : schema?.enum?.join(' | ');
    const text = [isRequired && 'required.', shape, schema?.description].filter(Boolean).join(' ');
    return `  --${flagOf(name).padEnd(24)} ${text}`;
  };
  const flags = [
    ...(takesFile ? [line('file', { description: 'The file to send.' }, true)] : []),
    ...Object.entries(body?.properties ?? {}).map(([name, schema]) =>
      line(name, schema, body.required?.includes(name)),
    ),
    ...query.map((one) =>
      line(one.name, { ...one.schema, description: one.description ?? one.schema?.description }, one.required),
    ),
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
