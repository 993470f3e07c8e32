/** Inputs that the call of an operation may have besides those of its path, query and body. */
import type { Operation } from './operations.ts';
import { followed } from './progress.ts';

export const extraInputs = {
  key: 'idempotency_key',
  text: 'text',
  base64: 'base64',
  wait: 'wait_seconds',
  /** Where a long result continues, and how many bytes of it to return. */
  offset: 'offset',
  limit: 'limit',
} as const;

/** The extra inputs of this operation. */
export function extrasOf(operation: Operation): string[] {
  const { name, config, takesFile } = operation;
  return [
    ...(takesFile ? [extraInputs.text, extraInputs.base64] : []),
    ...(config.replay ? [extraInputs.key] : []),
    ...(name in followed ? [extraInputs.wait] : []),
    ...windowInputs(operation),
  ];
}

/** A list has a limit of its own, and continues with a cursor. */
function windowInputs({ name, method, inputs, config }: Operation): string[] {
  if (method !== 'GET') return [];
  if (!inputs.some((one) => one.name === extraInputs.limit)) return [extraInputs.offset, extraInputs.limit];
  return answersText(config) || name === 'source.files' ? [extraInputs.offset] : [];
}

/** Whether the response may be text, which can be too long for one result. */
const answersText = ({ answers = [] }: Operation['config']): boolean =>
  answers.some((type) => type === '*/*' || type.startsWith('text/'));
