import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { html } from '#web/html.ts';
import { writePage } from '#web/page.ts';

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
