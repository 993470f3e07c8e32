/** A review link opens the site with a cookie on each of the two hosts. Also: the overlay's frame, and the popup that passes it the key. */
import cookie from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { openCommentsOf } from '#api/comments/counts.ts';
import { sendError } from '#api/plugins/errors.ts';
import { originsOf } from '#api/visitors/origins.ts';
import { previewLabels } from '#db/previews/transitions.ts';
import { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { handOverPage, reviewFrame } from '#web/overlay/review-frame.ts';
import type { WrittenPage } from '#web/page.ts';
import { noticePage } from '#web/pages/notice.ts';
import { reviewerOf } from './links.ts';
import { reviewTargetOf } from './slots.ts';

const secretParams = z.object({ secret: z.string() });
const siteParams = z.object({ publicId: z.string() });
/** The origin of the page around the frame. */
const frameQuery = z.object({ origin: z.string().catch('') });
const cookieFlags = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;
const cookieOf = (publicId: string) => `__Host-frontage_review_${publicId}`;

export async function reviewPages(app: Api, deps: Deps): Promise<void> {
  await app.register(cookie);

  // Writes nothing, so that mail scanners can open it without effect.
  app.get('/review/:secret', options('review.open', secretParams), (request, reply) =>
    inPage(request, reply, async () => {
      const { secret } = request.params as { secret: string };
      const em = deps.em();
      const { link, site } = await reviewerOf(em, deps, secret);
      const { address } = await reviewTargetOf(em, deps, site, link.slot ?? null);
      const seconds = Math.ceil((link.expiresAt.getTime() - deps.clock.now().getTime()) / 1000);
      reply.setCookie(cookieOf(site.publicId), secret, { ...cookieFlags, maxAge: seconds });
      const open = (await openCommentsOf(em, [site.id])).get(site.id) ?? 0;
      const marker = new URLSearchParams({ site: site.publicId, for: String(seconds), open: String(open) });
      return reply
        .header('cache-control', 'no-store')
        .redirect(`${new URL(address).origin}/.frontage/review?${marker}`, 303);
    }),
  );

  const { config, schema } = options('review.frame', siteParams);
  app.get('/review/frame/:publicId', { config, schema: { ...schema, querystring: frameQuery } }, (request, reply) =>
    inPage(request, reply, async () => {
      const { publicId } = request.params;
      const { origin } = request.query;
      const em = deps.em();
      const site = await em.findOne(Site, { publicId });
      // Names no host but the one that asked: anybody may ask, and a preview's host is its only protection.
      if (!site || !(await originsOf(em, deps, site)).has(origin)) {
        throw errors.not_found('There is no website with this id at this address.');
      }
      reply.removeHeader('x-frame-options');
      const drafts = (await previewLabels(em, site.id)).map((label) => new URL(siteAddress(deps.config, label)).origin);
      return sendPage(
        reply,
        reviewFrame({ publicId, siteTitle: site.title, origin, isDraft: drafts.includes(origin) }),
      );
    }),
  );

  app.get('/review/hand-over/:publicId', options('review.hand_over', siteParams), (request, reply) =>
    inPage(request, reply, async () => {
      const { publicId } = request.params as { publicId: string };
      const secret = request.cookies[cookieOf(publicId)];
      const reviewer = secret && (await reviewerOf(deps.em(), deps, secret).catch(notKnownAsNull));
      // The frame of one site never receives another site's key.
      return sendPage(reply, handOverPage(reviewer && reviewer.site.publicId === publicId ? secret : undefined));
    }),
  );
}

function options<Params extends z.ZodType>(operation: string, params: Params) {
  return { config: { operation }, schema: { hide: true, params } };
}

function sendPage(reply: FastifyReply, { body, headers }: WrittenPage): FastifyReply {
  return reply.headers(headers).send(body);
}

function notKnownAsNull(error: unknown): null {
  if (error instanceof AppError && error.code !== 'internal') return null;
  throw error;
}

const titles: Partial<Record<AppError['code'], string>> = {
  not_found: 'We can’t find this review link',
  expired: 'This link has expired',
  site_archived: 'This website is archived',
  preview_empty: 'There is nothing to review yet',
  preview_expired: 'This preview has expired',
};

const texts: Partial<Record<AppError['code'], string>> = {
  expired: 'Ask the person who sent it for a new one.',
  preview_expired: 'Ask the person who sent the link to build it again.',
};

async function inPage(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') return sendError(error, request, reply);
    const { body, headers } = noticePage({
      title: titles[error.code] ?? 'Something went wrong',
      text: texts[error.code] ?? error.message,
    });
    return reply.code(error.status).headers(headers).send(body);
  }
}
