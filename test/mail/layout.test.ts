/** What strangers may put into a mail, in both of its forms. */
import { expect, test } from 'vitest';
import { write } from '#web/mails/layout.ts';
import { mails, writeMail } from '#web/mails/mails.ts';

const hostile = '<script>alert(1)</script>"\' onclick=x\r\nBcc: all@example.com\u202egnp.exe\u200b\0';

test('strangers’ words are plain text in mails and one line in the subject', () => {
  const mail = write({
    subject: hostile,
    preview: hostile,
    heading: hostile,
    blocks: [hostile, { quote: hostile }, { facts: [['Name', hostile]] }],
    footer: hostile,
  });
  expect(mail.subject).not.toMatch(/[\r\n]/);
  expect(mail.html).not.toContain('<script');
  expect(mail.html).not.toMatch(/<[^>]*onclick/);
  for (const form of [mail.subject, mail.text, mail.html]) expect(form).not.toMatch(/[\0\r\u202e\u200b]/);
  // Quoted words cannot be taken for ours: each of their lines is marked.
  expect(mail.text).toContain('> Bcc: all@example.com');
  // And a fact cannot go on in a line of its own.
  expect(mail.text).toMatch(/^Name: .*Bcc: all@example\.com/m);
});

test('a button’s address is a link and readable text', () => {
  const url = 'https://example.com/x?a=1&b=2';
  const mail = write({
    subject: 's',
    preview: 'p',
    heading: 'h',
    blocks: [{ button: { label: 'Go', url } }],
    footer: 'f',
  });
  expect(mail.text).toContain(`Go:\n${url}`);
  expect(mail.html.match(/href="https:\/\/example\.com\/x\?a=1&#38;b=2"/g)).toHaveLength(2);
});

test('a mail that can be switched off links to the page for that', () => {
  const content = { subject: 's', preview: 'p', heading: 'h', blocks: [], footer: 'f' };
  const choices = 'https://example.com/account/mails';
  const mail = write({ ...content, choices });
  expect(mail.text).toMatch(/-- \nf\nChoose which e-mails you get: https:\/\/example\.com\/account\/mails\n$/);
  expect(mail.html).toContain(`<a class="link" href="${choices}"`);
  for (const none of [undefined, null]) expect(write({ ...content, choices: none }).html).not.toContain('<a ');
});

test.each(Object.keys(mails) as (keyof typeof mails)[])(
  'the mail %s fetches nothing and explains why it was sent',
  (kind) => {
    const data = {
      hostname: 'x.example.com',
      reason: 'It asks for passwords.',
      link: 'https://example.com/l/x',
      days: 14,
      deleteAt: '2026-12-20T10:00:00Z',
      agentName: 'Agent',
      askedFrom: '203.0.113.7',
      accountName: 'A',
      newAddress: 'new@example.com',
      oldAddress: 'old@example.com',
      email: 'new@example.com',
      stage: 'asked',
      askedBy: 'Claude',
      asker: { browser: 'Firefox on Windows', address: '203.0.113.7' },
      code: 'BCDFGHJK',
      formName: 'Contact',
      answers: [{ label: 'Name', text: 'Ada' }],
      page: '/contact',
      id: 'book_1',
      reference: 'ABCD-1234',
      address: 'https://x.example.com',
      service: 'Haircut',
      calendar: 'Chair 1',
      timeZone: 'Europe/Berlin',
      start: '2026-11-20T10:00:00+01:00',
      end: '2026-11-20T10:30:00+01:00',
      seats: 2,
      createdAt: '2026-11-19T09:00:00Z',
      cancelUrl: 'https://example.com/b/cancel/x',
      before: { start: '2026-11-19T10:00:00+01:00', timeZone: 'Europe/Berlin' },
      visitor: { name: 'Ada', email: 'ada@example.com' },
      visitorName: 'Ada',
      amount: 1250,
      currency: 'EUR',
      title: 'Bakery',
      description: 'Two loaves',
      paid: '€12.50',
      paidAt: '2026-11-19T09:00:00Z',
      payer: 'ada@example.com',
      agent: 'Claude',
      text: 'We answer within a day.',
      total: '€12.50',
      payUrl: 'https://example.com/pay/x',
      holdExpiresAt: '2026-11-19T09:15:00Z',
      refunded: '€5.00',
      owed: '€5.00',
      intake: [['Colour', 'Blue']],
      to: 'site',
      client: 'Chat',
      cause: 'refresh_reused',
      domain: 'x.example.com',
      recordName: '_frontage.x.example.com',
      value: 'frontage-verify=1',
      number: 7,
      by: 'the agent Claude',
      isLive: true,
      account: 'https://example.com/account',
      choices: 'https://example.com/account/mails',
      may: 'all websites',
      websites: ['x.example.com'],
      givenBy: null,
      ends: 'when you end it',
      isLast: true,
    };
    const mail = writeMail(kind, data as never, { baseUrl: 'https://example.com' });
    expect(mail.html).not.toMatch(/<(img|script|link|iframe|object|video|audio)\b|@import|url\(|src=/i);
    expect(mail.text).toContain('-- \n');
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/undefined|\[object|NaN/);
  },
);
