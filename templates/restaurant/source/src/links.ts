import { site } from './facts';

/** The main navigation; the 404 page lists the same pages. */
export const links = [
  { href: '/menu/', text: 'Menu' },
  { href: '/news/', text: 'News' },
  { href: '/contact/', text: 'Find us' },
  ...(site.bookings?.open ? [{ href: '/book/', text: 'Book' }] : []),
];
