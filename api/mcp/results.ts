/** An answer of the API as the result of a tool, bounded: it is read by a model, whose attention costs. What it leaves out, it says how to get. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { errors } from '#runtime/errors.ts';
import { type ApiResponse, type Input, isJson } from './inject.ts';
import type { Operation } from './operations.ts';

/** Bytes of text in a result. */
export const textMax = 100_000;

/** `baseUrl`: where the whole of an answer can be fetched that is too large. */
export function resultOf(operation: Operation, answered: ApiResponse, baseUrl: string): CallToolResult {
  const { status, body, more } = answered;
  const whole = `GET ${baseUrl}${answered.path} with the same token returns the complete response.`;
  if (status >= 400) return { isError: true, content: [text(JSON.stringify(body ?? {}), whole)] };
  if (body) return { content: [text(JSON.stringify(body), whole)], ...structuredPart(operation, answered, body) };
  if (more && isJson(answered)) return failureOf(tooLarge(whole));
  return { content: [fileContent(answered, baseUrl, whole)] };
}

/** A failure that a read reports of what it reads: the caller's work has failed, so the tool has. */
export function failureOf(error: unknown): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}

const tooLarge = (whole: string) =>
  errors.invalid_input('The response is too large for a tool.', { nextAction: `Ask for less. ${whole}` }).toBody();

/** The same as data; left out where nobody counts on it and it is too large. */
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
    return { type: 'text', text: `A file ${length} (${mimeType}), too large for this response. ${whole}` };
  }
  const data = bytes.toString('base64');
  if (/^image\/(png|jpeg|webp|gif)$/.test(mimeType)) return { type: 'image', mimeType, data };
  return { type: 'resource', resource: { uri: `${baseUrl}${path}`, mimeType, blob: data } };
}

/** A text from where it was asked for, in whole characters, and where to go on. */
function windowOf({ bytes, from, more, total }: ApiResponse): string {
  const end = bytes.length > textMax ? wholeCharacters(bytes, textMax) : bytes.length;
  const shown = bytes.subarray(0, end).toString();
  if (end === bytes.length && !more) return shown;
  const length = total === undefined ? '' : ` of ${total}`;
  return `${shown}\n[Truncated at byte ${from + end}${length}. Call again with offset ${from + end} for the rest.]`;
}

/** The last place up to `max` where a character of UTF-8 begins. */
function wholeCharacters(bytes: Buffer, max: number): number {
  let end = max;
  while (end > max - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

function text(all: string, whole: string): { type: 'text'; text: string } {
  if (all.length <= textMax) return { type: 'text', text: all };
  const said = `[Truncated: the response has ${all.length} characters. Ask for less. ${whole}]`;
  return { type: 'text', text: `${all.slice(0, textMax)}\n${said}` };
}
