/** `/u/{secret}`: the page of an upload link, and where it sends files. No token: the secret is the credential. */

import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { missing } from '#api/capabilities.ts';
import { limitConcurrency } from '#api/concurrency.ts';
import { prefersJson } from '#api/front/representation.ts';
import { sendError } from '#api/plugins/errors.ts';
import { fileOf, readFiles } from '#api/plugins/file-body.ts';
import { limitsOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import type { WrittenPage } from '#web/page.ts';
import { closedPage, type UploadResult, uploadPage } from '#web/pages/upload-page.ts';
import { receiveFile } from './files.ts';
import { type HeldLink, linkOf, requireOpen } from './links.ts';
import { sizeWords } from './words.ts';

const secretParams = z.object({ secret: z.string() });
const partsMax = 1000;

export function uploadPageRoutes(app: Api, deps: Deps): void {
  readFiles(app);
  const ofLink = limitConcurrency('linkUploads');
  const ofOwner = limitConcurrency('ownerUploads');
  const limited = <Result>({ link, site }: HeldLink, reply: FastifyReply, work: () => Promise<Result>) =>
    ofLink(link.id, reply, () => ofOwner(site.account.id, reply, work));
  const config = { operation: 'upload.page' } as const;

  app.get('/u/:secret', { config, schema: { hide: true, params: secretParams } }, async (request, reply) => {
    return await inPage(request, reply, async () => {
      const em = deps.em();
      const opened = await linkOf(em, request.params.secret);
      return showLink(deps, opened);
    });
  });

  app.post(
    '/u/:secret',
    { config: { operation: 'upload.send', rawBody: true }, schema: { hide: true, params: secretParams } },
    async (request, reply) => {
      const { secret } = request.params;
      const em = deps.em();
      if (isForm(request)) {
        return await inPage(request, reply, async () => {
          const opened = await linkOf(em, secret);
          return await limited(opened, reply, () => receiveForm(deps, request, secret));
        });
      }
      const opened = await linkOf(em, secret);
      const file = { name: nameOf(request), body: fileOf(request) };
      const received = await limited(opened, reply, () => receiveFile(em, deps, opened, file));
      const { name, path, bytes, filesLeft } = received;
      return reply.header('cache-control', 'no-store').send({ name, path, bytes, files_left: filesLeft });
    },
  );
}

function showLink(deps: Deps, opened: HeldLink, results: UploadResult[] = []): WrittenPage {
  const { link, site } = opened;
  try {
    const off = missing(deps.config, 'files');
    if (off) throw off;
    requireOpen(opened, deps.clock.now());
  } catch (error) {
    if (results.length === 0 || !(error instanceof AppError)) throw error;
    return closedPage('Thank you', error.message, results);
  }
  const fileBytesMax = Math.min(link.maxFileBytes, limitsOf(deps.config, site, deps.clock.now()).file_bytes);
  return uploadPage({
    siteTitle: site.title,
    filesLeft: link.maxFiles - link.filesTaken,
    fileBytesMax,
    fileSizeMax: sizeWords(fileBytesMax),
    expiresAt: link.expiresAt,
    results,
  });
}

const isForm = (request: FastifyRequest) => /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');

/** A browser without scripts submits the form; its files are stored one by one, in order. */
async function receiveForm(deps: Deps, request: FastifyRequest, secret: string): Promise<WrittenPage> {
  const em = deps.em();
  const results: UploadResult[] = [];
  for await (const { name, body } of filesOf(request)) {
    // Read again for each file: the link may have expired by now.
    const result = await linkOf(deps.em(), secret)
      .then((opened) => receiveFile(deps.em(), deps, opened, { name, body }))
      .catch((error) => {
        if (error instanceof AppError && error.code !== 'internal') return error;
        throw error;
      });
    body.resume();
    results.push(result instanceof AppError ? { name, refused: result.message } : { name });
  }
  return showLink(deps, await linkOf(em, secret), results);
}

type Part = { name: string; body: Readable };

/** The files of a form in order; the next one arrives when the previous one was read or skipped. */
async function* filesOf(request: FastifyRequest): AsyncGenerator<Part> {
  const parser = readParts(request);
  const parts: Part[] = [];
  let over = false;
  let fault: Error | undefined;
  let wake = () => {};
  parser.on('file', (_field, body, name) => {
    if (!name) return void body.resume();
    body.on('error', () => {});
    parts.push({ name, body });
    wake();
  });
  parser.on('finish', () => {
    over = true;
    wake();
  });
  let current: Part | undefined;
  const breakOff = (error: Error) => {
    fault ??= error;
    // Otherwise its reader would wait forever.
    for (const part of [current, ...parts]) part?.body.destroy(fault);
    wake();
  };
  parser.on('error', (error) => breakOff(error as Error));
  whenCutShort(request, breakOff);
  fileOf(request).pipe(parser);
  for (;;) {
    current = parts.shift();
    if (current) yield current;
    else if (fault) throw errors.invalid_input('The photos were not received completely. Please send them again.');
    else if (over) return;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

/** The client may also have disconnected before the link was read. */
function whenCutShort({ raw }: FastifyRequest, act: (error: Error) => void): void {
  const closed = () => {
    if (!raw.readableEnded) act(new Error('the client disconnected before the form was complete'));
  };
  raw.once('close', closed);
  if (raw.destroyed) closed();
}

function readParts(request: FastifyRequest) {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { files: partsMax, fields: 10, fieldSize: 1024, headerPairs: 50 },
    });
  } catch {
    throw errors.invalid_input('The form was sent with an unsupported content type.');
  }
}

/** The name that the page's script sends, percent-encoded, since headers hold ASCII only. */
function nameOf(request: FastifyRequest): string {
  const sent = request.headers['x-file-name'];
  if (typeof sent !== 'string' || sent.length > 4000) return 'photo';
  try {
    return decodeURIComponent(sent);
  } catch {
    return 'photo';
  }
}

/** Responds with a page also for errors, unless the client asks for JSON. */
async function inPage(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<WrittenPage>,
): Promise<FastifyReply> {
  try {
    const { body, headers } = await work();
    return reply.headers(headers).send(body);
  } catch (error) {
    const known = error instanceof AppError && error.code !== 'internal' ? error : undefined;
    if (!known || prefersJson(request)) return sendError(error, request, reply);
    const { body, headers } = closedPage(
      titles[known.code] ?? 'Something went wrong',
      texts[known.code] ?? known.message,
    );
    return reply.code(known.status).headers(headers).send(body);
  }
}

const titles: Record<string, string> = {
  not_found: 'We can’t find this upload link',
  expired: 'This link has expired',
  plan_limit: 'All your photos have been sent',
  site_archived: 'This website is archived',
  uploads_disabled: 'Photo uploads are turned off',
  rate_limited: 'Please wait a moment',
};

const texts: Record<string, string> = { expired: 'Ask the person who sent it for a new one.' };
