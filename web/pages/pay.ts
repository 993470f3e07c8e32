/** The page that shows a payer the state of a payment. */
import { written } from '#rules/currencies.ts';
import { html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { illustration } from './illustration.ts';

export type PaymentShown = {
  /** How the page was reached: by the link, back from the checkout after paying, back without paying, or by a link preview. */
  came: 'opened' | 'returned' | 'left' | 'looked';
  status: 'open' | 'paid' | 'refunding' | 'refunded' | 'expired';
  amount: number;
  /** In part; a whole refund is the status. */
  refunded: number;
  currency: string;
  /** The site's canonical host name and URL. */
  hostname: string;
  address: string;
  payUrl: string;
  returnUrl: string;
  /** The site's title, and what is paid for. */
  title: string;
  description: string | null;
  /** `isValid`: whether its time is booked, once it is paid. */
  booking: { reference: string; isValid: boolean } | null;
};

export function payPage(shown: PaymentShown): WrittenPage {
  const { title, text, button } = wordsOf(shown);
  const main = html`${illustration(shown.status === 'paid')}
<h1>${title}</h1>
<p>${text}</p>
${factsOf(shown)}
${button ? html`<a class="button" href="${button.href}">${button.text}</a>` : null}
<p class="hint"><a href="${shown.address}">Back to ${shown.hostname}</a></p>`;
  return writePage({
    title: `${title} – ${shown.hostname}`,
    main,
    layout: 'message',
    style: '.facts { margin: 1.5rem 0; text-align: start; } .hint { margin-top: 1.25rem; }',
  });
}

/** What is paid for and to whom, before and after; the reference of a booking once it is paid. */
function factsOf({ description, title, hostname, amount, refunded, currency, booking, status }: PaymentShown) {
  const rows: [string, string][] = [
    ...(description === null ? [] : [['For', description] as [string, string]]),
    ['To', `${title} (${hostname})`],
    ['Amount', written({ amount, currency })],
    ...(refunded > 0 ? [['Refunded', written({ amount: refunded, currency })] as [string, string]] : []),
    ...(booking && status === 'paid' ? [['Reference', booking.reference] as [string, string]] : []),
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

type Words = { title: string; text: string; button?: { href: string; text: string } };

function wordsOf(shown: PaymentShown): Words {
  const { status, hostname, booking } = shown;
  const money = written(shown);
  switch (status) {
    case 'paid':
      if (booking && !booking.isValid)
        return {
          title: 'Paid, but not booked',
          text: `${hostname} has received ${money}, but this time is not booked for you. Please ask ${hostname} for a refund.`,
        };
      return {
        title: booking ? 'Paid and booked' : 'Paid, thank you',
        text: booking
          ? `${hostname} has received ${money}. We will send you a confirmation by e-mail.`
          : `${hostname} has received ${money}.`,
      };
    case 'refunding':
    case 'refunded':
      return {
        title: status === 'refunded' ? 'Payment refunded' : 'Refund in progress',
        text: `${hostname} ${status === 'refunded' ? 'has refunded' : 'is refunding'} ${money}. The refund can take 5–10 days to reach your account.`,
      };
    case 'expired':
      return {
        title: 'This payment link has expired',
        text: booking
          ? 'Your booking is no longer held. If you have just paid, we will e-mail you; otherwise, please book again.'
          : `Please ask ${hostname} for a new link.`,
      };
    case 'open':
      return openWords(money, shown);
  }
}

function openWords(money: string, { came, hostname, payUrl, returnUrl }: PaymentShown): Words {
  if (came === 'returned') {
    return {
      title: 'Checking your payment',
      text: 'We have not received your payment yet. This can take a minute. Please check again before you try to pay again.',
      button: { href: returnUrl, text: 'Check again' },
    };
  }
  if (came === 'looked') {
    return {
      title: `Pay ${money}`,
      text: `Payment to ${hostname}.`,
      button: { href: payUrl, text: 'Continue to payment' },
    };
  }
  return {
    title: 'You have not paid yet',
    text: `${money} is still due to ${hostname}.`,
    button: { href: payUrl, text: `Pay ${money}` },
  };
}
