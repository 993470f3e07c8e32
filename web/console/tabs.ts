/** The console's pages, in the order of their tabs. A page has its row here once it is built. */

export type Tab = { name: string; text: string; path: string };

/** Pages of the account. */
export const accountTabs = [
  { name: 'home', text: 'Home', path: '/account' },
  { name: 'agents', text: 'Agents', path: '/account/agents' },
  { name: 'payouts', text: 'Payouts', path: '/account/payouts' },
  { name: 'settings', text: 'Settings', path: '/account/settings' },
] as const satisfies readonly Tab[];
export type AccountTab = (typeof accountTabs)[number]['name'];

/** Pages of one site; the path follows that of the site. */
export const siteTabs = [
  { name: 'overview', text: 'Overview', path: '' },
  { name: 'visitors', text: 'Visitors', path: '/visitors' },
  { name: 'messages', text: 'Messages', path: '/messages' },
  { name: 'bookings', text: 'Bookings', path: '/bookings' },
  { name: 'payments', text: 'Payments', path: '/payments' },
  { name: 'comments', text: 'Comments', path: '/comments' },
  { name: 'domains', text: 'Domains', path: '/domains' },
  { name: 'people', text: 'People', path: '/people' },
  { name: 'history', text: 'History', path: '/history' },
  { name: 'settings', text: 'Settings', path: '/settings' },
] as const satisfies readonly Tab[];
export type SiteTab = (typeof siteTabs)[number]['name'];

/** The page of a site: `sitePath('site_…', 'visitors')`. */
export function sitePath(id: string, tab: SiteTab = 'overview'): string {
  return `/account/sites/${id}${siteTabs.find(({ name }) => name === tab)?.path ?? ''}`;
}
