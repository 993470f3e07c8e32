/** Every mail that is sent, and its replacement if mail is off. */
import { rowsOf } from './row.ts';

export const events = [
  ...rowsOf('event', 'people', {
    'a sign-in link goes to the address of the account': ['people/signin', 'a mailed link and one button sign a'],
    'an agent’s request for access goes to the address of the account': ['people/approval', 'neither mail nor page'],
    'the old address is notified of a change of address': [
      'people/address',
      'a new address needs confirmation, and the old',
    ],
    'an invitation goes to the invited address and names the site by hostname': ['mail/mail', 'an invitation’s mail'],
    'the list of invitations shows what waits for the account': ['invitations/invitations', 'both sides see an'],
  }),
  ...rowsOf('event', 'comments', {
    'open_comments shows what waits for the agent': ['comments/threads', 'lists and reads of a site contain its'],
  }),
  ...rowsOf('event', 'visitors', {
    'a booking goes to the notify_to of the site': ['bookings/mails', 'the visitor receives a calendar file, and the'],
    'a submission goes to the notify_to of its form': [
      'forms/delivery',
      'a submission’s mail to notify_to names form and site, and can be replied to',
    ],
    'a submission without a sender is stored, not mailed, and says so': ['forms/delivery', 'without a sender a'],
  }),
  ...rowsOf('event', 'money', {
    'a payout offer sends no mail and is counted in offers_to_answer': ['payouts/offers', 'offers send no mail'],
  }),
];
