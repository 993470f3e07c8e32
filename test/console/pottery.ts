/** A business with messages, bookings, payments, people and links, and browsers in which its people are signed in. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Account } from '#db/accounts/account.ts';
import type { Caller } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { challengeEnv, forms } from '#test/forms/fixture.ts';
import { attachAccount } from '#test/payments/fixture.ts';
import { createMailedFixture } from '#test/payments/mailed-fixture.ts';
import { until } from '#test/stack/until.ts';
import { type Look, openChrome } from '#test/web/looks.ts';
import { addSession } from './session.ts';

export type Pottery = Awaited<ReturnType<typeof openPottery>>;

const fields = [
  { name: 'name', label: 'Your name', kind: 'text', required: true },
  { name: 'email', label: 'E-mail address', kind: 'email', required: true },
  { name: 'topic', label: 'What is it about?', kind: 'select', options: ['A class', 'An order'] },
  { name: 'message', label: 'Message', kind: 'textarea' },
];

/** What visitors, tenants and collaborators write into the pages. */
export type Words = {
  title: string;
  form: string;
  name: string;
  message: string;
  service: string;
  calendar: string;
  visitor: string;
  description: string;
  reference: string;
  collaborator: string;
};
export const usualWords: Words = {
  title: 'The pottery',
  form: 'Contact',
  name: 'Ada Lovelace',
  message: 'Good morning,\nis there a place left in the evening class for two beginners?\n\nThank you, Ada',
  service: 'Evening at the wheel',
  calendar: 'The studio',
  visitor: 'Grace Hopper',
  description: 'Two bowls, glazed',
  reference: 'Invoice 12',
  collaborator: 'Tom Baker',
};

/** Opens the service, and Chromium unless it is not wanted. */
export async function openPottery({ browser = true } = {}) {
  const fixture = await createMailedFixture({ FRONTAGE_BASE_URL: 'http://desk.localhost', ...challengeEnv });
  const chrome = browser ? await openChrome(`MAP desk.localhost 127.0.0.1:${new URL(fixture.url).port}`) : null;
  const ask = forms(fixture);

  async function rename(accountId: string, name: string): Promise<void> {
    await fixture.deps.em().nativeUpdate(Account, { id: accountId }, { name });
  }

  /** A signed-in browser window. */
  async function visit(
    { accountId }: Pick<Caller, 'accountId'>,
    look: Look,
    options: BrowserContextOptions = {},
  ): Promise<Page> {
    if (!chrome) throw new Error('the pottery was opened without a browser');
    const page = await chrome.newPage(look, options);
    await addSession(fixture, accountId, page);
    return page;
  }

  /** A site with everything on it. */
  async function newBusiness(words: Words = usualWords) {
    const service = { name: words.service, price: { amount: 4500, currency: 'EUR' } };
    const made = await fixture.newBookable(timetable({ service, calendar: { name: words.calendar, capacity: 4 } }));
    const { owner, site, publicId } = made;
    await rename(owner.accountId, 'Maria Hartley');
    await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: words.title } });
    await attachAccount(fixture, owner, site.id);
    const form = await ask.newForm(owner, { name: words.form, fields }, { ...site, address: '' });
    const sent = { name: words.name, email: 'ada@example.com', topic: 'A class', message: words.message };
    await ask.send(form.id, sent);
    await ask.send(form.id, { ...sent, name: 'Alan', message: 'Do you repair handles?' });
    const collaborator = await fixture.newCollaborator(owner, site.id);
    await rename(collaborator.accountId, words.collaborator);
    const payment = await pay(owner, site.id, { description: words.description, reference: words.reference });
    const open = await owner.call('POST', `/v1/sites/${site.id}/payments`, {
      body: { amount: 125_000, currency: 'EUR', description: 'A dinner service' },
    });
    const [slot] = await fixture.slots(publicId, fixture.dateIn(2));
    const booking = await owner.call('POST', `/v1/sites/${site.id}/bookings`, {
      body: {
        kind: 'booking',
        calendar: 'room',
        service: 'talk',
        start: slot?.start,
        visitor: { name: words.visitor },
      },
    });
    return { ...made, words, form, collaborator, payment, open: open.body, booking: booking.body, slot };
  }

  /** A payment that was paid. */
  async function pay(owner: Caller, siteId: string, more: object = {}) {
    const { body } = await owner.call('POST', `/v1/sites/${siteId}/payments`, {
      body: { amount: 1250, currency: 'EUR', ...more },
    });
    const { page } = await fixture.openLink(body.pay_url);
    await fixture.press(page, 'pay', { email: 'payer@example.org' });
    await until(fixture.reading(owner, body.id).statusOf, (status) => status === 'paid');
    return body as { id: string };
  }

  return {
    ...fixture,
    ask,
    visit,
    newBusiness,
    rename,
    path: (siteId: string, rest = '') => `http://desk.localhost/account/sites/${siteId}${rest}`,
    async close() {
      await chrome?.close();
      await fixture.close();
    },
  };
}
