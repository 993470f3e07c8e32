import { site } from './facts';

/** The main navigation; the 404 page lists the same pages. */
export const links = [
  { href: '/#work', text: 'Work' },
  { href: '/about/', text: 'About' },
  { href: '/contact/', text: 'Contact' },
  ...(site.bookings?.open ? [{ href: '/book/', text: 'Book' }] : []),
];
