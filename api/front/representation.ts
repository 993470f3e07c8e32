/** Which representation a client wants: a page for people, JSON for programs (RFC 9110 section 12.5.1). Pure. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

type Asked = Pick<FastifyRequest, 'headers'>;

/** Below these, every client is a program. */
const programPath = /^\/(?:v1|mcp|git)(?:[/?]|$)/i;

const accepted = ({ headers }: Asked) => new Negotiator({ headers: { accept: headers.accept?.toLowerCase() } });

/** Whether the Accept header names `text/html`, as browsers do for a page. Wildcards name nothing; a weight of 0 refuses. */
export const namesHtml = (request: Asked): boolean => accepted(request).mediaTypes().includes('text/html');

/** Whether the client names `text/html` and does not prefer JSON. For addresses that answer programs by default. */
export const prefersHtml = (request: Asked): boolean =>
  namesHtml(request) && accepted(request).mediaType(['application/json', 'text/html']) === 'text/html';

/** Whether the client prefers JSON. For addresses that answer people by default. */
export const prefersJson = (request: Asked): boolean =>
  accepted(request).mediaType(['text/html', 'application/json']) === 'application/json';

/** Caches keep both representations apart (RFC 9110 section 12.5.5). */
export function varyByAccept(reply: FastifyReply): FastifyReply {
  const known = String(reply.getHeader('vary') ?? '');
  if (/\baccept\b(?!-)/i.test(known)) return reply;
  return reply.header('vary', known ? `${known}, accept` : 'accept');
}

/** The API, its tools and git. The router decodes a path before it compares it, so an encoded one counts as the plain one. */
export function isProgramAddress({ url, routeOptions }: Pick<FastifyRequest, 'url' | 'routeOptions'>): boolean {
  return [routeOptions?.url ?? '', url, decoded(url)].some((path) => programPath.test(path));
}

function decoded(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}
