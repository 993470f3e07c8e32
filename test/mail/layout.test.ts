/** What strangers may put into a mail, in both of its forms. */
import { expect, test } from 'vitest';
import { allExamples } from '#tools/scripts/docs/mails-page.ts';
import { write } from '#web/mails/layout.ts';

const hostile =
  '<script>alert(1)</script>"\' onclick=x\r\nBcc: all@example.com\u202egnp.exe\u200b\u061c\u00ad\u{e0041}\0';

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
  for (const form of [mail.subject, mail.text, mail.html])
    expect(form).not.toMatch(/[\0\r\u202e\u200b\u061c\u00ad\u{e0041}]/u);
  // Quoted words cannot be taken for ours: each of their lines is marked.
  expect(mail.text).toContain('> Bcc: all@example.com');
  // And a fact cannot go on in a line of its own.
  expect(mail.text).toMatch(/^Name: .*Bcc: all@example\.com/m);
});

test('a long subject is cut between letters', () => {
  const content = { preview: 'p', heading: 'h', blocks: [], footer: 'f' };
  const { subject } = write({ ...content, subject: `${'x'.repeat(199)}🥐🥐` });
  expect([subject.length, subject.isWellFormed(), subject.endsWith('x')]).toEqual([199, true, true]);
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

test.each(allExamples().map((example) => [example.picture.replace('.webp', ''), example.mail] as const))(
  'the mail %s fetches nothing and explains why it was sent',
  (_name, mail) => {
    expect(mail.html).not.toMatch(/<(img|script|link|iframe|object|video|audio)\b|@import|url\(|src=/i);
    expect(mail.text).toContain('-- \n');
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/undefined|\[object|NaN/);
  },
);
