/** Every mail that goes out, and what is read instead of one. */
import { rowsOf } from './row.ts';

export const events = [
  ...rowsOf('event', 'people', {
    'a sign-in link goes to the address of the account': [
      'people/signin',
      'a mailed link and one button sign a browser in',
    ],
    'an agent’s request for access goes to the address of the account': [
      'people/approval',
      'neither the mail nor the page holds the code, and both say who asks and from where',
    ],
    'a change of address is told to the old one': ['people/address', 'and the old one is told both times'],
    'an invitation goes to the invited address and names the site by hostname': [
      'mail/mail',
      'an invitation arrives, once, at the invited address',
    ],
    'the list of invitations shows what waits for the account': [
      'invitations/invitations',
      'an invitation shows site by hostname, address, state',
    ],
  }),
  ...rowsOf('event', 'comments', {
    'open_comments shows what waits for the agent': [
      'comments/threads',
      'says in every list and read how many threads',
    ],
  }),
  ...rowsOf('event', 'visitors', {
    'a booking goes to the notify_to of the site': [
      'bookings/mails',
      'and who is told on the site gets it with the address to answer to',
    ],
    'a submission goes to the notify_to of its form': ['forms/delivery', 'an enquiry arrives at notify_to'],
    'a submission without a sender is stored, not mailed, and says so': [
      'forms/delivery',
      'without a sender an enquiry is stored, not mailed, and says so',
    ],
  }),
  ...rowsOf('event', 'money', {
    'a payout offer is mailed to nobody and counted in offers_to_answer': [
      'payouts/offers',
      'no mail is sent about an offer: it is counted, listed',
    ],
  }),
];
