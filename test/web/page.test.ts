import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '#rules/time.ts';
import { heading } from '#web/heading.ts';
import { html } from '#web/html.ts';
import { writePage } from '#web/page.ts';
import { facts } from '#web/pages/booking.ts';
import { exact, relative } from '#web/times.ts';

test('values in a template cannot become markup, in text or in attributes', () => {
  const hostile = `"><script>alert(1)</script>'&\``;
  const { markup } = html`<p title="${hostile}">${hostile}</p>`;
  expect(markup.replace(/^<p title="|">|<\/p>$/g, '')).not.toMatch(/[<>"'`]/);
  expect(markup).toContain('&#60;script&#62;');
});

test('HTML and lists of it are inserted unchanged, and absent values are empty', () => {
  const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`);
  expect(html`<ul>${items}${null}${undefined}${false}${0}</ul>`.markup).toBe(
    '<ul><li>a</li><li>&#60;b&#62;</li>0</ul>',
  );
});

test('an object that only looks like HTML is refused', () => {
  const forged = JSON.parse('{"markup":"<script>"}');
  expect(() => html`<p>${forged}</p>`).toThrow(TypeError);
});

const main = html`<h1>Hello</h1>`;
const policyOf = (headers: Record<string, string>) => headers['content-security-policy'] ?? '';

test('a page allows its one style by hash, but no scripts, frames or forms', () => {
  const { body, headers } = writePage({ title: 'a <b>', main, layout: 'card' });
  const style = /<style>([\s\S]*)<\/style>/.exec(body)?.[1] ?? '';
  expect(policyOf(headers)).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  expect(policyOf(headers)).toMatch(/default-src 'none'.*base-uri 'none'; form-action 'none'; frame-ancestors 'none'/);
  expect(policyOf(headers)).not.toContain('script-src');
  expect(body).toContain('<title>a &#60;b&#62;</title>');
});

test('a page with a script or form allows only that and its origin', () => {
  const script = 'document.title = "<ran>";';
  const { body, headers } = writePage({ title: 'Upload', main, layout: 'card', script, form: true });
  const hash = createHash('sha256').update(script).digest('base64');
  expect(policyOf(headers)).toContain(`script-src 'sha256-${hash}'; connect-src 'self'`);
  expect(policyOf(headers)).toContain("form-action 'self'");
  expect(body).toContain(`<script>${script}</script>`);
  expect(() => writePage({ title: '', main, layout: 'card', script: '"</SCRIPT>"' })).toThrow(TypeError);
});

test('a heading keeps "e-mail" on one line, and escapes the rest', () => {
  expect(heading('Your <b> e-mail address').markup).toBe(
    '<h1>Your &#60;b&#62; <span class="whole">e-mail</span> address</h1>',
  );
});

test('a booking that ends on another day names that day', () => {
  const told = { service: 'A night', calendar: 'Room 3', timeZone: 'Europe/London', seats: 1, reference: 'ABC' };
  const inn = { siteTitle: 'The inn', hostname: 'inn.example', address: 'https://inn.example' };
  const until = (endsAt: Date) =>
    facts({ ...told, ...inn, startsAt: new Date('2026-12-05T15:00:00Z'), endsAt }).markup.replaceAll(',', '');
  expect(until(new Date('2026-12-05T16:30:00Z'))).toContain('Saturday 5 December 2026 15:00 to 16:30<');
  expect(until(new Date('2026-12-06T15:00:00Z'))).toContain('15:00 to Sunday 6 December 2026 15:00<');
});

test('a time within three days is in hours, and exact with its zone', () => {
  const now = new Date('2026-11-23T14:05:00Z');
  const after = (ms: number) => relative(new Date(now.getTime() + ms), now);
  expect([after(72 * hourMs - minuteMs), after(72 * hourMs), after(90 * minuteMs)]).toEqual([
    'in 71 hours',
    'in 3 days',
    'in 1 hour',
  ]);
  expect([after(14 * 24 * hourMs - minuteMs), after(13 * 24 * hourMs + minuteMs), after(0)]).toEqual([
    'in 14 days',
    'in 13 days',
    'just now',
  ]);
  expect(relative(now, new Date(now.getTime() + 50 * hourMs))).toBe('2 days ago');
  expect(exact(now)).toBe('23 November 2026 at 14:05 UTC');
});
