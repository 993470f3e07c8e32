/** Operations as a model reads them: `form_delete(id: form_… , confirm?: boolean)`, with an example. Pure. */
import type { Operation, Schema } from '#api/operations/operations.ts';
import { toolName } from '#rules/calls/calls.ts';
import { inputSchema, inputsOf, modelWords } from './schemas.ts';
import { sizeNote } from './too-large.ts';

/** The signature, what the operation does, its arguments and an example, in a few lines. */
export function describe(operation: Operation, isTool: boolean): string {
  const { name, summary, description = '', method } = operation;
  const inputs = inputsOf(operation);
  const notes = inputs.flatMap(({ name: input, schema }) => notesOf(input, schema));
  const size = sizeNote(operation);
  const [noun = ''] = name.split('.', 1);
  const given = examples[name] ?? (exampleOf(inputSchema(operation), noun) as object);
  const example = isTool
    ? `${toolName(name)} ${JSON.stringify(given)}`
    : `${method === 'GET' ? 'read' : 'call'}_operations ${JSON.stringify({ calls: [{ operation: toolName(name), arguments: given }] })}`;
  return [
    `${toolName(name)}(${inputs.map(({ name: input, required, schema }) => `${input}${required ? '' : '?'}: ${typeText(schema)}`).join(', ')})`,
    ...(size === undefined ? [] : [`  ${size}`]),
    `  ${[`${summary}.`, modelWords(description)].filter(Boolean).join(' ')}`,
    ...notes,
    `  ${example}`,
  ].join('\n');
}

type Read = Schema & { items?: Schema; anyOf?: Schema[]; enum?: unknown[]; const?: unknown; description?: string };

/** What is known of an input and of the fields within it: `rules.from: A path on the site.` */
function notesOf(name: string, schema: Schema): string[] {
  const { description = '', default: usual, items, anyOf = [], properties = {} } = schema as Read;
  const isScalar = usual !== undefined && typeof usual !== 'object';
  const whenLeftOut = isScalar ? ` Left out: ${JSON.stringify(usual)}.` : '';
  const isPlain = description === '' || /^[a-z]+_…/.test(description);
  const parts = [...(items ? [items] : []), ...anyOf].flatMap((part) => notesOf(name, part));
  const fields = Object.entries(properties).flatMap(([field, part]) => notesOf(`${name}.${field}`, part));
  return [...(isPlain ? [] : [`  ${name}: ${description}${whenLeftOut}`]), ...parts, ...fields];
}

/** A schema as a type of TypeScript. */
function typeText(schema: Schema, depth = 0): string {
  const { type, items, anyOf, enum: values, const: one, properties, required = [], description = '' } = schema as Read;
  if (one !== undefined) return JSON.stringify(one);
  if (values) return values.map((value) => JSON.stringify(value)).join('|');
  if (anyOf) return [...new Set(anyOf.map((part) => typeText(part, depth)))].join('|');
  if (Array.isArray(type)) return type.join('|');
  if (type === 'array') return `[${items ? typeText(items, depth) : 'any'}]`;
  if (properties && depth < 4) {
    const fields = Object.entries(properties).map(
      ([name, part]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(part, depth + 1)}`,
    );
    return `{ ${fields.join(', ')} }`;
  }
  const [id] = /^[a-z]+_…/.exec(description) ?? [];
  return id ?? type ?? 'any';
}

const samples: Readonly<Record<string, unknown>> = {
  email: 'mira@bakery.example',
  expires_at: '2030-01-01T00:00:00Z',
  name: 'bakery',
  page: '/',
  path: 'src/pages/index.astro',
  start: '2030-01-01T10:00:00Z',
  url: 'https://bakery.example/',
  // Of a form, and of one of its fields.
  'form.name': 'Contact',
  'fields.name': 'message',
};

/** Where what the schema requires is less than what shows how the call is used. */
const examples: Readonly<Record<string, object>> = {
  'bookable.declare': {
    id: 'site_…',
    calendars: [
      {
        key: 'anna',
        name: 'Anna',
        capacity: 1,
        time_zone: 'Europe/Berlin',
        hours: [{ days: ['tue', 'wed'], from: '09:00', to: '17:00' }],
        exceptions: [{ from: '2030-08-01', to: '2030-08-07', hours: [] }],
      },
    ],
    services: [
      {
        key: 'lesson',
        name: 'Piano lesson',
        duration_minutes: 60,
        calendar_keys: ['anna'],
        lead_minutes: 720,
        price: { amount: 4500, currency: 'EUR' },
      },
    ],
  },
  'booking.create': {
    id: 'site_…',
    kind: 'booking',
    calendar: 'anna',
    service: 'lesson',
    start: '2030-01-01T10:00:00Z',
    visitor: { name: 'Ada' },
  },
  'offer.days': { public_id: 'site_…', service: 'lesson' },
  'offer.slots': { public_id: 'site_…', service: 'lesson', date: '2030-01-01' },
  'payment.create': { id: 'site_…', amount: 4500, currency: 'EUR', description: 'Two cakes' },
  'payout.add': { name: 'Bakery', rail: 'connect' },
  'redirects.set': {
    id: 'site_…',
    rules: [
      { from: '/old', to: '/new' },
      { from: '/shop/*', to: 'https://shop.example/:splat', status: 301 },
    ],
  },
  'skill.read': { path: 'SKILL.md' },
  'token.create': {
    name: 'Helper',
    expires_at: '2030-01-01T00:00:00Z',
    scope: { sites: ['site_…'], access: 'read' },
  },
};

const sampleOf = (owner: string, name: string, description: string): unknown =>
  name === 'path' && description.includes('src/assets/')
    ? 'src/assets/bakery.jpg'
    : (samples[`${owner}.${name}`] ?? samples[name]);

/** A value that the schema allows: what is required, with words that show what is meant. */
function exampleOf(schema: Schema, name: string, owner = ''): unknown {
  const {
    type,
    items,
    anyOf,
    enum: values,
    const: one,
    properties = {},
    required = [],
    description = '',
  } = schema as Read;
  if (one !== undefined) return one;
  if (values) return values[0];
  if (anyOf?.[0]) return exampleOf(anyOf[0], name, owner);
  const [kind] = Array.isArray(type) ? type : [type];
  if (kind === 'object')
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([field]) => required.includes(field))
        .map(([field, part]) => [field, exampleOf(part, field, name)]),
    );
  if (kind === 'array') return items ? [exampleOf(items, name, owner)] : [];
  if (kind === 'integer' || kind === 'number')
    return Math.max(1, Number((schema as { minimum?: number }).minimum ?? 1));
  if (kind === 'boolean') return true;
  const [id] = /^[a-z]+_…/.exec(description) ?? [];
  return (
    id ??
    sampleOf(owner, name, description) ??
    (name.endsWith('_id') ? `${name.slice(0, -3)}_…` : `the ${name.replaceAll('_', ' ')}`)
  );
}
