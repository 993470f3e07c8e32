/** The main navigation; the 404 page lists the same pages. */
export const links = [{ href: '/rss.xml', text: 'RSS' }];
