/** `GET /b/{public_id}` for people: the booking page instead of the description. */
import type { FastifyReply } from 'fastify';
import { sendPage } from '#api/plugins/browser.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { bookingPage } from '#web/pages/visitors/booking-page.ts';
import { describeBookable } from './description.ts';
import type { DeclaredTimetable } from './timetable.ts';

export async function sendBookingPage(
  em: EntityManager,
  { config, challenge }: Pick<Deps, 'config' | 'challenge'>,
  declared: DeclaredTimetable,
  { takesMoney, reply }: { takesMoney: boolean; reply: FastifyReply },
): Promise<FastifyReply> {
  const { site, bookable } = declared;
  const { services } = await describeBookable(em, config, declared, takesMoney);
  const shown = challenge?.shown;
  const page = bookingPage({
    publicId: site.publicId,
    siteTitle: site.title,
    ...(await canonicalUrl(em, config, site)),
    services,
    colors: site.colors,
    fallback: bookable.fallback,
    challengeOrigin: shown?.kind === 'hosted' ? new URL(shown.scriptUrl).origin : undefined,
  });
  return sendPage(reply, page);
}
