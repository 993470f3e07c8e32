import { site } from './facts';

/** The main navigation; the 404 page lists the same pages. */
export const links = [
  { href: '/#prices', text: 'Prices' },
  { href: '/about/', text: 'About' },
  { href: '/news/', text: 'News' },
  { href: '/contact/', text: 'Contact' },
  ...(site.bookings?.open ? [{ href: '/book/', text: 'Book' }] : []),
];
