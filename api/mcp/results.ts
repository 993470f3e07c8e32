/**
 * Converts API responses to tool results. They are limited in size, because models read them; a truncated one explains
 * how to get the rest.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { type ApiResponse, type Input, isJson } from '#api/operations/inject.ts';
import type { Operation } from '#api/operations/operations.ts';
import { errors } from '#runtime/errors.ts';

/** Maximum bytes of text in a result. */
export const textMax = 100_000;

/** `baseUrl`: where the whole of a truncated response can be fetched. */
export function resultOf(operation: Operation, answered: ApiResponse, baseUrl: string): CallToolResult {
  const { status, body, more } = answered;
  const whole = `GET ${baseUrl}${answered.path} with the same token returns the complete response.`;
  if (status >= 400) return { isError: true, content: [text(JSON.stringify(body ?? {}), whole)] };
  if (body) return { content: [text(JSON.stringify(body), whole)], ...structuredPart(operation, answered, body) };
  if (more && isJson(answered)) return failureOf(tooLarge(whole));
  return { content: [fileContent(answered, baseUrl, whole)] };
}

/** The result of a refused call, with the id that the operator finds its log lines by. */
export function withRequestId(result: CallToolResult, requestId: string): CallToolResult {
  if (!result.isError) return result;
  return { ...result, content: [...result.content, { type: 'text', text: `x-request-id: ${requestId}` }] };
}

/** The result for work that failed, though the request that reads it succeeded. */
export function failureOf(error: unknown): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}

const tooLarge = (whole: string) =>
  errors
    .invalid_input('The response is too large for a tool result.', { nextAction: `Request less data. ${whole}` })
    .toBody();

/** The response as structured data; omitted if it is too large and the tool has no output schema. */
function structuredPart(
  { output, config }: Operation,
  { bytes }: ApiResponse,
  body: Input,
): Pick<CallToolResult, 'structuredContent'> {
  const promised = output?.type === 'object' && !config.answers;
  return promised || bytes.length <= textMax ? { structuredContent: body } : {};
}

function fileContent(answered: ApiResponse, baseUrl: string, whole: string): CallToolResult['content'][number] {
  const { type, bytes, path, more, total } = answered;
  const mimeType = type.split(';', 1)[0]?.trim() ?? '';
  if (mimeType.startsWith('text/')) return { type: 'text', text: windowOf(answered) };
  if (more) {
    const length = total === undefined ? `of more than ${bytes.length} bytes` : `of ${total} bytes`;
    return {
      type: 'text',
      text: `This is a file ${length} (${mimeType}), which is too large for a tool result. ${whole}`,
    };
  }
  const data = bytes.toString('base64');
  if (/^image\/(png|jpeg|webp|gif)$/.test(mimeType)) return { type: 'image', mimeType, data };
  return { type: 'resource', resource: { uri: `${baseUrl}${path}`, mimeType, blob: data } };
}

/** Text from the requested offset, in whole characters, and the offset of the rest. */
function windowOf({ bytes, from, more, total }: ApiResponse): string {
  const end = bytes.length > textMax ? wholeCharacters(bytes, textMax) : bytes.length;
  const shown = bytes.subarray(0, end).toString();
  if (end === bytes.length && !more) return shown;
  const length = total === undefined ? '' : ` of ${total}`;
  return `${shown}\n[Truncated at byte ${from + end}${length}. Call again with offset ${from + end} to get the rest.]`;
}

/** The last offset up to `max` at which a UTF-8 character begins. */
function wholeCharacters(bytes: Buffer, max: number): number {
  let end = max;
  while (end > max - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

function text(all: string, whole: string): { type: 'text'; text: string } {
  if (all.length <= textMax) return { type: 'text', text: all };
  const said = `[Truncated: the response has ${all.length} characters. Request less data. ${whole}]`;
  return { type: 'text', text: `${all.slice(0, textMax)}\n${said}` };
}
