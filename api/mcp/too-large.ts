/** Files that are too large for a result, and where to get them. Pure. */

import { capabilitiesOf } from '#api/capabilities.ts';
import { type ApiResponse, isJson } from '#api/operations/inject.ts';
import type { Operation } from '#api/operations/operations.ts';
import { call, renderCalls } from '#rules/calls/calls.ts';
import type { Config } from '#runtime/config.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** At most this much of a file is in a result, in bytes. Pictures may be longer. */
export const bytesMax = 100_000;

/** The media type, without its parameters. */
export const mimeTypeOf = ({ type }: Pick<ApiResponse, 'type'>): string => type.split(';', 1)[0]?.trim() ?? '';
/** Whether it is a picture that a result shows. */
export const isPicture = (mimeType: string): boolean => /^image\/(png|jpeg|webp|gif)$/.test(mimeType);

/** What a tool does not return of an operation, and what does; undefined for operations that return no other files. */
export function sizeNote({ name }: Pick<Operation, 'name'>): string | undefined {
  const most = `A tool returns at most ${bytesMax / 1000} KB`;
  if (name === 'site.export')
    return `${most}, so you cannot have the archive of most sites here. The refusal has a link for the owner: “Download the site” on its Settings page.`;
  if (name === 'asset.read')
    return `${most} of a file that is no picture. A git clone has larger ones: ${renderCalls(call('source.credential'), 'mcp')}.`;
  return undefined;
}

/** The error for a file that is neither text nor short; `undefined` for everything else. */
export function tooLarge(operation: Operation, answered: ApiResponse, config: Config): AppError | undefined {
  const { status, bytes, more, total, path } = answered;
  const mimeType = mimeTypeOf(answered);
  if (status >= 400 || isJson(answered) || mimeType.startsWith('text/')) return undefined;
  if (!more && (isPicture(mimeType) || bytes.length <= bytesMax)) return undefined;
  const length = more && total === undefined ? `more than ${bytes.length} bytes` : `${total ?? bytes.length} bytes`;
  return fault(`${length} (${mimeType})`, elsewhere(operation, path, config));
}

const fault = (size: string, nextAction: string) =>
  errors.invalid_input(`This is a file of ${size}, which is too large for a tool.`, { nextAction });

/** The error for a site that a tool does not export. */
export const exportTooLarge = (config: Config, siteId: string): AppError =>
  fault(
    `more than ${bytesMax} bytes (application/x-tar)`,
    capabilitiesOf(config).email_signin
      ? `Ask the owner to press “Download the site” on its Settings page: ${config.baseUrl}/account/sites/${siteId}/settings`
      : downloadFrom(`${config.baseUrl}/v1/sites/${siteId}/export`),
  );

const downloadFrom = (url: string) => `A program that sends the token can download it from ${url}.`;

function elsewhere({ name }: Operation, path: string, config: Config): string {
  const [, site] = /^\/v1\/sites\/([^/?]+)/.exec(path) ?? [];
  if (name === 'asset.read') return `A git clone has it: ${call('source.credential', { id: site })}.`;
  return downloadFrom(`${config.baseUrl}${path}`);
}
