/** Inputs that the call of an operation may have besides those of its path, query and body. */
import type { Operation } from './operations.ts';
import { followed } from './progress.ts';

export const extraInputs = {
  key: 'idempotency_key',
  text: 'text',
  base64: 'base64',
  wait: 'wait_seconds',
  offset: 'offset',
} as const;

/** The extra inputs of this operation. */
export function extrasOf({ name, config, takesFile }: Operation): string[] {
  return [
    ...(takesFile ? [extraInputs.text, extraInputs.base64] : []),
    ...(config.makes ? [extraInputs.key] : []),
    ...(name in followed ? [extraInputs.wait] : []),
    ...(answersText(config) ? [extraInputs.offset] : []),
  ];
}

/** Whether the response may be text, which can be too long for one result. */
export const answersText = ({ answers = [] }: Operation['config']): boolean =>
  answers.some((type) => type === '*/*' || type.startsWith('text/'));
