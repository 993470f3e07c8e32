/** API responses as tool results: text once and compact, in parts where it is long, and pictures as pictures. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { extraInputs, extrasOf } from '#api/operations/extra-inputs.ts';
import { type ApiResponse, type Input, isJson } from '#api/operations/inject.ts';
import type { Operation } from '#api/operations/operations.ts';
import { renderCalls } from '#rules/calls/calls.ts';
import { hintsOf } from './hints.ts';
import { bytesMax, isPicture, mimeTypeOf } from './too-large.ts';
import { withBriefWarnings } from './warnings.ts';

type Block = CallToolResult['content'][number];
/** A response to show: JSON or text, and blocks that are neither. */
export type Shown = { value: unknown; blocks: Block[] };
/** The part of a long result, in bytes, and how to get what comes after this offset. */
export type Part = { offset: number; limit: number; rest(from: number): string };

/** The usual size of a result, in bytes: about 6,000 tokens. */
export const usualBytes = 24_000;
const detailMax = 6000;

/** The part that the call asks for. */
export function partOf(operation: Operation, input: Input, usual = usualBytes): Part {
  const { [extraInputs.offset]: offset, [extraInputs.limit]: limit } = input;
  const size = typeof limit === 'number' && limit > 200 ? Math.min(limit, bytesMax) : usual;
  return { offset: typeof offset === 'number' ? offset : 0, limit: size, rest: (from) => restOf(operation, from) };
}

/** A call that changes something would do so again. */
function restOf(operation: Operation, from: number): string {
  if (extrasOf(operation).includes(extraInputs.offset)) return `Call again with offset ${from} for the rest.`;
  if (hintsOf(operation).readOnlyHint) return 'Ask for less at once, with a smaller limit or a filter.';
  return 'It was done: do not call it again for the rest.';
}

export function resultOf(answered: ApiResponse, part: Part): CallToolResult {
  const { value, blocks } = shownOf(answered, part);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const content = [...(value === undefined ? [] : [{ type: 'text' as const, text }]), ...blocks];
  return { ...(answered.status >= 400 ? { isError: true } : {}), content };
}

/** The result of a refused call, with the id that the operator finds its log lines by. */
export function withRequestId(result: CallToolResult, requestId: string): CallToolResult {
  if (!result.isError) return result;
  return { ...result, content: [...result.content, { type: 'text', text: `x-request-id: ${requestId}` }] };
}

/** The result for work that failed, though the request that reads it succeeded. */
export const failureOf = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error: shownError(error as Input) }) }],
});

export function shownOf(answered: ApiResponse, part: Part): Shown {
  const { status, body, more } = answered;
  if (status >= 400) return { value: { ...body, error: shownError((body?.error ?? {}) as Input) }, blocks: [] };
  if (!body) return more && isJson(answered) ? tooLong : fileOf(answered, part);
  if (body.kind === 'file' || body.kind === 'files') return sourceFiles(body, part);
  const value = withoutLongDiff(withBriefWarnings(body));
  const bytes = Buffer.from(JSON.stringify(value));
  if (bytes.length <= part.limit && part.offset === 0) return { value, blocks: [] };
  return { value: textPart({ bytes: bytes.subarray(part.offset), total: bytes.length }, part), blocks: [] };
}

const diffMax = 2000;

/**
 * Without the diff of a commit that its caller has just sent, if it is long. A diff of few lines may have long lines
 * around them: those are left out first.
 */
function withoutLongDiff(body: Input): Input {
  const { diff, ...others } = body;
  if (typeof diff !== 'string' || Buffer.byteLength(diff) <= diffMax) return body;
  const changed = diff.split('\n').filter((line) => !line.startsWith(' '));
  const brief = changed.join('\n');
  if (changed.at(-1) !== '…' && Buffer.byteLength(brief) <= diffMax) return { ...others, diff: brief };
  return {
    ...others,
    diff: 'Left out, because it is long. source_files reads the files as they are now; a git clone has the diff (find source_credential).',
  };
}

const tooLong: Shown = {
  value: 'The result is too long for a tool. Ask for less, with a limit or a filter.',
  blocks: [],
};

/** The calls of its next step in the words of tools, and the beginning of a long log. */
export function shownError(error: Input): Input {
  const { next_action: next, detail } = error;
  return {
    ...error,
    ...(typeof next === 'string' ? { next_action: renderCalls(next, 'mcp') } : {}),
    ...(typeof detail === 'string' && detail.length > detailMax
      ? { detail: `${detail.slice(0, detailMax)}\n[Cut here. deployment_log has all of it.]` }
      : {}),
  };
}

/** One file of the source, or several: a picture becomes a block, and a long text is a part of it. */
function sourceFiles(body: Input, { offset, limit }: Pick<Part, 'offset' | 'limit'>): Shown {
  if (body.kind === 'file') return sourceFile(body, { offset, limit });
  const items = body.items as Input[];
  const most = evenShare(items.map(sizeOf), limit);
  const shown = items.map((file) => sourceFile(file, { offset: 0, limit: most, isOfList: true }));
  return { value: { ...body, items: shown.map(({ value }) => value) }, blocks: shown.flatMap(({ blocks }) => blocks) };
}

/** Pictures are shown beside the text. */
function sizeOf({ path, text, base64 }: Input): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  return typeof base64 === 'string' && !pictureType(String(path)) ? base64.length : 0;
}

/** The most that one may have, so that all have `room`: what the short ones leave is for the long ones. */
export function evenShare(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (sizes.length - index));
    if (size > share) return share;
    left -= size;
  }
  return room;
}

type PartOfFile = Pick<Part, 'offset' | 'limit'> & { isOfList?: boolean };

function sourceFile({ text, base64, ...file }: Input, { offset, limit, isOfList = false }: PartOfFile): Shown {
  if (typeof text === 'string') {
    const bytes = Buffer.from(text);
    const end = wholeCharacters(bytes, offset + limit);
    // A list has no offset.
    const next = isOfList ? { rest: `Read this path alone from offset ${end}.` } : { next_offset: end };
    const more = end < bytes.length ? next : {};
    return { value: { ...file, text: bytes.subarray(offset, end).toString(), ...more }, blocks: [] };
  }
  if (typeof base64 !== 'string') return { value: file, blocks: [] };
  const mimeType = pictureType(String(file.path));
  if (mimeType) return { value: file, blocks: [{ type: 'image', mimeType, data: base64 }] };
  if (base64.length <= limit) return { value: { ...file, base64 }, blocks: [] };
  return { value: { ...file, note: 'Not text, and too long to show.' }, blocks: [] };
}

function pictureType(path: string): string | undefined {
  const [, ending] = /\.(png|jpe?g|webp|gif)$/i.exec(path) ?? [];
  return ending && `image/${ending.toLowerCase().replace('jpg', 'jpeg')}`;
}

function fileOf(answered: ApiResponse, part: Part): Shown {
  const { bytes, path, more, total } = answered;
  const mimeType = mimeTypeOf(answered);
  if (mimeType.startsWith('text/')) return { value: textPart({ bytes, total, more }, part), blocks: [] };
  const data = bytes.toString('base64');
  if (isPicture(mimeType)) return { value: undefined, blocks: [{ type: 'image', mimeType, data }] };
  return {
    value: undefined,
    blocks: [{ type: 'resource', resource: { uri: `frontage:${path}`, mimeType, blob: data } }],
  };
}

/** Bytes from `offset` on, cut between characters, and where the rest begins. */
function textPart(
  { bytes, total, more = false }: { bytes: Buffer; total: number | undefined; more?: boolean },
  { offset, limit, rest }: Part,
): string {
  const end = wholeCharacters(bytes, limit);
  const shown = bytes.subarray(0, end).toString();
  if (end === bytes.length && !more) return shown;
  const length = total === undefined ? '' : ` of ${total}`;
  return `${shown}\n[Cut at byte ${offset + end}${length}. ${rest(offset + end)}]`;
}

/** The last offset up to `max` at which a UTF-8 character begins. */
function wholeCharacters(bytes: Buffer, max: number): number {
  if (bytes.length <= max) return bytes.length;
  let end = max;
  while (end > max - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}
