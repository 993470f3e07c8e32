/**
 * The facts in `src/site.json`. Text in double square brackets stands where the owner's own is missing: pages show it, and
 * a publish warns of it. An empty text is left out of pages.
 */
import facts from './site.json';

type Site = {
  title: string;
  headline?: string;
  description: string;
  language: string;
  /** Who writes posts that name no author. */
  author?: string;
  phone?: string;
  email?: string;
  street?: string;
  town?: string;
  /** Monday to Sunday, each with its name and hours: `09:00–17:00`, or `closed`. */
  hours?: string[][];
  holidays?: string;
  /** The `action_url` of a form. */
  form?: string;
  /** `/book/` exists once `open` is true. */
  bookings?: { open: boolean; widget: string; site: string };
};
export const site: Site = facts;

export const isGiven = (text: string | undefined): text is string => !!text && !text.includes('[[');
const given = (text: string | undefined) => (isGiven(text) ? text : undefined);

/** The address of a map of the place; undefined while the address is not known. */
export const mapAddress = () =>
  isGiven(site.street) && isGiven(site.town)
    ? `https://www.openstreetmap.org/search?query=${encodeURIComponent(`${site.street}, ${site.town}`)}`
    : undefined;

/** The firm for search engines (schema.org): nothing that the pages do not say. */
export function firm(type: string, address: URL | undefined) {
  return {
    '@context': 'https://schema.org',
    '@type': type,
    name: site.title,
    description: given(site.description),
    url: address?.href,
    image: address && new URL('/share.png', address).href,
    telephone: given(site.phone),
    email: given(site.email),
    address:
      isGiven(site.street) || isGiven(site.town)
        ? { '@type': 'PostalAddress', streetAddress: given(site.street), addressLocality: given(site.town) }
        : undefined,
    openingHours: openingHours(),
  };
}

const days = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];

function openingHours(): string[] | undefined {
  const known = (site.hours ?? []).flatMap(([, hours = ''], day) =>
    [...hours.matchAll(/(\d\d:\d\d)\s*[–-]\s*(\d\d:\d\d)/g)].map(([, from, to]) => `${days[day]} ${from}-${to}`),
  );
  return known.length > 0 ? known : undefined;
}

/** An article for search engines. */
export const article = (
  { title, description, date }: { title: string; description: string; date: Date },
  address: URL | undefined,
  author?: string,
) => ({
  '@context': 'https://schema.org',
  '@type': 'BlogPosting',
  headline: title,
  description,
  datePublished: date.toISOString().slice(0, 10),
  url: address?.href,
  author: isGiven(author) ? { '@type': 'Person', name: author } : undefined,
});
