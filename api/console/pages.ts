/** The owner's console: all its pages. Each requires a session. */

import { signOut } from '#api/auth/signin.ts';
import { pageOptions } from '#api/plugins/browser.ts';
import { endSession, sessionSecret } from '#api/plugins/session.ts';
import { agentPages } from './agents.ts';
import { bookingChangePages } from './booking-changes.ts';
import { bookingPages } from './bookings.ts';
import { commentPages } from './comments.ts';
import { domainPages } from './domains.ts';
import type { Console } from './frame.ts';
import { historyPages } from './history/history.ts';
import { homePages } from './home/home.ts';
import { messagePages } from './messages.ts';
import { overviewPages } from './overview.ts';
import { paymentPages } from './payments.ts';
import { payoutAccountPages } from './payout-accounts.ts';
import { payoutPages } from './payouts.ts';
import { peoplePages } from './people.ts';
import { scriptRoutes } from './scripts.ts';
import { settingPages } from './settings.ts';
import { siteSettingPages } from './site-settings.ts';
import { visitorPages } from './visitors.ts';

export function consolePages(console: Console): void {
  console.app.post('/signout', pageOptions('signin.end', 'email_signin'), async (request, reply) => {
    await signOut(request.em, sessionSecret(request) ?? '');
    endSession(reply);
    return reply.redirect('/signin', 303);
  });
  homePages(console);
  agentPages(console);
  payoutPages(console);
  payoutAccountPages(console);
  settingPages(console);
  overviewPages(console);
  messagePages(console);
  bookingPages(console);
  bookingChangePages(console);
  paymentPages(console);
  domainPages(console);
  peoplePages(console);
  siteSettingPages(console);
  visitorPages(console);
  commentPages(console);
  historyPages(console);
  scriptRoutes(console);
}
