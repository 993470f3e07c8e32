/** Definitions of the tools, one for each operation. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { type Capability, missing } from '#api/capabilities.ts';
import { answersText, extraInputs } from '#api/operations/extra-inputs.ts';
import type { Operation, Schema } from '#api/operations/operations.ts';
import { followed } from '#api/operations/progress.ts';
import type { Config } from '#runtime/config.ts';
import { hintsOf } from './hints.ts';

/** `site_publish`. Clients only accept letters, digits, `_` and `-`. */
export const toolName = ({ name }: Pick<Operation, 'name'>): string => name.replace('.', '_');

/** Operations that work without the capability, but are useless as tools without it. */
const needOf: Record<string, Capability> = { domain: 'domains', record: 'domains', upload: 'files' };

/** Operations whose capability is enabled. Every client sees all of them, whatever its scope: an owner can allow a call that was refused. */
export function offered(operations: readonly Operation[], config: Config): Operation[] {
  return operations.filter(({ name, config: { capability = [] } }) => {
    const noun = needOf[name.split('.', 1)[0] ?? ''] ?? [];
    return [capability, noun].flat().every((need) => !missing(config, need));
  });
}

export function toolOf(operation: Operation): Tool {
  const { summary, description, method, path } = operation;
  const output = outputSchema(operation);
  return {
    name: toolName(operation),
    title: summary,
    description: [`${summary}.`, description, `Calls ${method} ${path}.`].filter(Boolean).join(' '),
    inputSchema: inputSchema(operation),
    ...(output ? { outputSchema: output } : {}),
    annotations: { title: summary, ...hintsOf(operation) },
  };
}

function inputSchema({ name, inputs, takesFile, config }: Operation): Tool['inputSchema'] {
  const properties = Object.fromEntries(inputs.map(({ name, schema }) => [name, schema]));
  if (takesFile) {
    properties[extraInputs.text] = { type: 'string', description: 'The contents of the file, if it is text.' };
    properties[extraInputs.base64] = {
      type: 'string',
      description:
        'The contents of the file in base64, if it is not text. Send files larger than about 700 KB with an upload link or git.',
    };
  }
  if (config.makes) {
    properties[extraInputs.key] = {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'A unique value of your choice. Repeating a call with the same key within 24 hours creates nothing twice.',
    };
  }
  if (name in followed) {
    properties[extraInputs.wait] = {
      type: 'integer',
      minimum: 0,
      maximum: 50,
      default: 20,
      description:
        'Seconds to wait for the result. A call with a progress token receives progress notifications instead.',
    };
  }
  if (answersText(config)) {
    properties[extraInputs.offset] = {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'The byte offset to start from, to continue reading a truncated text.',
    };
  }
  const required = inputs.filter((one) => one.required).map(({ name }) => name);
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false };
}

/**
 * Only for responses that are always one kind of object. Additional properties are allowed, because responses may gain
 * fields.
 */
function outputSchema({ output, config }: Operation): Tool['outputSchema'] | undefined {
  if (config.answers || output?.type !== 'object' || !output.properties) return undefined;
  return opened(output) as Tool['outputSchema'];
}

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened);
  if (value === null || typeof value !== 'object') return value;
  const { additionalProperties, ...rest } = value as Schema;
  const kept = additionalProperties === false || additionalProperties === undefined ? {} : { additionalProperties };
  return Object.fromEntries(Object.entries({ ...rest, ...kept }).map(([key, inner]) => [key, opened(inner)]));
}
