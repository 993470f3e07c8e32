/** The main navigation; the 404 page lists the same pages. */
export const links = [
  { href: '/archive/', text: 'Archive' },
  { href: '/tags/', text: 'Tags' },
  { href: '/about/', text: 'About' },
  { href: '/rss.xml', text: 'RSS' },
];
