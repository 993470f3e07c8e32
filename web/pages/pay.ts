/** What a payer is told of a payment: that it is paid, over, being looked at, or still to be paid. */
import { written } from '#rules/currencies.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { shopFront } from './illustration.ts';

export type PaymentShown = {
  /** By the link, back from a page on which they paid, or from one that they left; or a program looked where the link leads. */
  came: 'opened' | 'returned' | 'left' | 'looked';
  status: 'open' | 'paid' | 'refunding' | 'refunded' | 'expired';
  amount: number;
  currency: string;
  /** The website, as visitors know it, and its address. */
  hostname: string;
  address: string;
  payUrl: string;
  returnUrl: string;
  booking: { reference: string; service: string } | null;
};

export function payPage(shown: PaymentShown): WrittenPage {
  const { title, text, button } = wordsOf(shown);
  const main = html`${shopFront(shown.status === 'paid')}
<h1>${title}</h1>
<p>${text}</p>
${shown.booking && shown.status === 'paid' ? html`<p>${shown.booking.service}. Reference: <strong>${shown.booking.reference}</strong></p>` : null}
${button ? html`<a class="button" href="${button.href}">${button.text}</a>` : null}
<p class="hint"><a href="${shown.address}">Back to ${shown.hostname}</a></p>`;
  return writePage({
    title: `${title} – ${shown.hostname}`,
    main,
    layout: 'sign',
    style: '.hint { margin-top: 1.25rem; }',
  });
}

type Words = { title: string; text: string; button?: { href: string; text: string } };

function wordsOf({ status, came, amount, currency, hostname, booking, payUrl, returnUrl }: PaymentShown): Words {
  const money = written({ amount, currency });
  switch (status) {
    case 'paid':
      return {
        title: booking ? 'Paid and booked' : 'Paid, thank you',
        text: booking
          ? `${hostname} has your ${money}. The confirmation comes by mail.`
          : `${hostname} has your ${money}.`,
      };
    case 'refunding':
    case 'refunded':
      return {
        title: 'The money goes back',
        text: `${money} goes back to where it came from. That can take some days.`,
      };
    case 'expired':
      return {
        title: 'The time to pay is over',
        text: booking
          ? 'The place was held for you until a moment ago. If you have just paid, you hear of it by mail; else book anew.'
          : `Ask ${hostname} for a new link.`,
      };
    case 'open':
      if (came === 'returned') {
        return {
          title: 'Looking for your payment',
          text: 'It has not arrived yet. That takes a minute at most; look once more before you pay again.',
          button: { href: returnUrl, text: 'Look again' },
        };
      }
      if (came === 'looked') {
        return {
          title: `Pay ${money}`,
          text: booking ? `${booking.service}, at ${hostname}.` : `To ${hostname}.`,
          button: { href: payUrl, text: 'Go on to pay' },
        };
      }
      return {
        title: 'Nothing was paid',
        text: `${hostname} still waits for ${money}.`,
        button: { href: payUrl, text: `Pay ${money}` },
      };
  }
}
