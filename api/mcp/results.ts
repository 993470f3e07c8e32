/** An answer of the API as the result of a tool, bounded: it is read by a model, whose attention costs. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Answered, Input } from './calling.ts';
import type { Operation } from './operations.ts';

/** Characters of text in a result. */
export const textMax = 100_000;
/** Bytes of a picture or another file in a result. */
const fileBytesMax = 1_048_576;

/** `baseUrl`: where a file that is too large can be fetched. */
export function resultOf(operation: Operation, answered: Answered, baseUrl: string): CallToolResult {
  const { status, body } = answered;
  if (status >= 400) return { isError: true, content: [text(JSON.stringify(body ?? {}))] };
  if (body) return { content: [text(JSON.stringify(body))], ...structuredPart(operation, answered, body) };
  return { content: [fileContent(answered, baseUrl)] };
}

/** A failure that a read reports of what it reads: the caller's work has failed, so the tool has. */
export function failureOf(error: unknown): CallToolResult {
  return { isError: true, content: [text(JSON.stringify({ error }))] };
}

/** The same as data; left out where nobody counts on it and it is too large. */
function structuredPart(
  { output }: Operation,
  { bytes }: Answered,
  body: Input,
): Pick<CallToolResult, 'structuredContent'> {
  return output?.type === 'object' || bytes.length <= textMax ? { structuredContent: body } : {};
}

function fileContent({ type, bytes, path }: Answered, baseUrl: string): CallToolResult['content'][number] {
  const mimeType = type.split(';', 1)[0]?.trim() ?? '';
  if (mimeType.startsWith('text/')) return text(bytes.toString());
  const uri = `${baseUrl}${path}`;
  if (bytes.length > fileBytesMax) {
    return text(
      `A file of ${bytes.length} bytes (${mimeType}), too large for this answer. GET ${uri} with the same token answers it.`,
    );
  }
  const data = bytes.toString('base64');
  if (/^image\/(png|jpeg|webp|gif)$/.test(mimeType)) return { type: 'image', mimeType, data };
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
}

function text(whole: string): { type: 'text'; text: string } {
  if (whole.length <= textMax) return { type: 'text', text: whole };
  return {
    type: 'text',
    text: `${whole.slice(0, textMax)}\n[Cut off here: the answer has ${whole.length} characters. Ask for less.]`,
  };
}
