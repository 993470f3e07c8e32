/** Sites that take bookings, and visitors who make them. */
import { type Answer, type Caller, callWith, createFixture, type Fixture } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { timetable } from './timetable.ts';

export type BookingFixture = Awaited<ReturnType<typeof createBookingFixture>>;

export async function createBookingFixture(
  env: Record<string, string> = {},
  options: Parameters<typeof createFixture>[1] = {},
) {
  const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9', ...env }, options);
  return { ...fixture, ...bookings(fixture) };
}

/** What tests of bookings do in a fixture. */
export function bookings(fixture: Pick<Fixture, 'url' | 'deps' | 'clock' | 'newCaller'>) {
  const anyone = callWith(fixture.url);
  const ask = people(fixture);

  /** A site of its own owner that takes bookings as declared. */
  async function newBookable(input: object = timetable(), given?: Caller) {
    const owner = given ?? (await fixture.newCaller());
    const site = await ask.newSite(owner);
    const declared = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: input });
    if (declared.status !== 200) throw new Error(`no timetable was declared: ${declared.text}`);
    return { owner, site, publicId: declared.body.public_id as string, bookable: declared.body };
  }

  /** What a visitor sends; the parts that are not given are good ones. */
  const wish = (start: string, more: object = {}) => ({
    service: 'talk',
    start,
    visitor: { name: 'Ada Visitor', email: 'ada@example.org' },
    ...more,
  });
  const book = (
    publicId: string,
    start: string,
    more: object = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> => anyone('POST', `/b/${publicId}`, { body: wish(start, more), headers });
  const slots = async (
    publicId: string,
    date: string,
    more = '',
  ): Promise<{ start: string; end: string; seats_left: number }[]> =>
    (await anyone('GET', `/b/${publicId}/slots?service=talk&date=${date}${more}`)).body.slots;

  /** The date in so many days, far enough for every zone. */
  const dateIn = (days: number) =>
    new Date(fixture.clock.now().getTime() + days * 86_400_000).toISOString().slice(0, 10);

  return { ...ask, anyone, newBookable, wish, book, slots, dateIn };
}

/** The widget in a page of a site, in colours of its own. */
export const widgetIn = (url: string, publicId: string) => `<style>
frontage-booking{--accent:rgb(138, 59, 18);--line:#b98;--frontage-accent:var(--accent);--frontage-line:var(--line);--frontage-surface:#fffdf8}</style>
<script type="module" src="${url}/b/widget.js"></script><frontage-booking site="${publicId}"><p>Call us: 030 1234.</p></frontage-booking>`;
