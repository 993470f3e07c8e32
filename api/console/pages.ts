/** The owner's console: all its pages. Each requires a session. */

import { signOut } from '#api/auth/signin.ts';
import { pageOptions } from '#api/plugins/browser.ts';
import { endSession, sessionSecret } from '#api/plugins/session.ts';
import { agentPages } from './agents.ts';
import type { Console } from './frame.ts';
import { homePages } from './home.ts';
import { overviewPages } from './overview.ts';
import { payoutPages } from './payouts.ts';
import { settingPages } from './settings.ts';

export function consolePages(console: Console): void {
  console.app.post('/signout', pageOptions('signin.end', 'email_signin'), async (request, reply) => {
    await signOut(request.em, sessionSecret(request) ?? '');
    endSession(reply);
    return reply.redirect('/signin', 303);
  });
  homePages(console);
  agentPages(console);
  payoutPages(console);
  settingPages(console);
  overviewPages(console);
}
