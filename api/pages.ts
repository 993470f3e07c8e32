/** The pages for people in a browser. */
import type { Deps } from '#runtime/deps.ts';
import { addressPages } from './accounts/address-pages.ts';
import { accountDeletionPages } from './accounts/deletion-pages.ts';
import { mailChoicePages } from './accounts/mail-pages.ts';
import type { Api } from './api.ts';
import { accessPages, signinPages } from './auth/pages.ts';
import { planPages } from './billing/pages.ts';
import { cancellationPages } from './bookings/cancellation-pages.ts';
import { movePages } from './bookings/move-pages.ts';
import { calendarFeedPages } from './calendar-feeds/pages.ts';
import { collaboratorPages } from './collaborators/pages.ts';
import type { Console } from './console/frame.ts';
import { consolePages } from './console/pages.ts';
import { frontPage } from './front/routes.ts';
import { invitationPages } from './invitations/pages.ts';
import { consentPages } from './oauth/pages.ts';
import { payPages } from './pay/pages.ts';
import { payoutOfferPages } from './payout-offers/pages.ts';
import { connectPages } from './payouts/pages.ts';
import { wideningPages } from './scopes/pages.ts';
import { sitePages } from './sites/pages.ts';
import { gitPasswordPages } from './source/pages.ts';

/** Pages that need no session: of links in e-mails, of payments, and where people sign in. */
export function publicPages(scope: Api, deps: Deps): void {
  frontPage(scope, deps);
  signinPages(scope, deps);
  accessPages(scope, deps);
  addressPages(scope, deps);
  cancellationPages(scope, deps);
  movePages(scope, deps);
  payPages(scope, deps);
  connectPages(scope, deps);
  consentPages(scope, deps);
}

/** The owner’s pages. */
export function ownersPages(console: Console): void {
  const { app, deps } = console;
  consolePages(console);
  accountDeletionPages(app, deps);
  mailChoicePages(app, deps);
  wideningPages(app, deps);
  sitePages(console);
  planPages(app, deps);
  invitationPages(console);
  payoutOfferPages(console);
  gitPasswordPages(console);
  calendarFeedPages(console);
  collaboratorPages(app, deps);
}
