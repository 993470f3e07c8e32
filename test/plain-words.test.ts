/** Texts that people and agents read are in plain English: docs, the skill, mails, pages, errors and the client. */
import { expect, test } from 'vitest';
import { files, text } from './source-files.ts';

const read = files.filter(
  (file) =>
    /^(web|skill)\/.*\.(ts|js|mjs|md)$|^runtime\/(errors|settings)(\/.*)?\.ts$|^(docs\/.*|[A-Z]+)\.md$/.test(file) &&
    // Records of what was decided and measured at the time.
    !file.startsWith('docs/history/'),
);

/** Phrases that no native writer uses, and what to write. */
const phrases: [pattern: RegExp, instead: string][] = [
  [/as often as may be/, 'the limit'],
  [/\bof ours\b/, 'our'],
  [/\b(is|are|was|were|be) told\b/, 'receives, is notified, contains'],
  [/\b(goes|went|go) on\b(?! to\b)/, 'continues'],
  [/\banew\b/, 'again'],
  [/\b(mends?|mended|mending)\b/, 'fix, repair'],
  [/\bgood for nothing\b/, 'revoked, invalid'],
  [/\bperson of the platform\b/, 'operator'],
  [/\bthose who run this platform\b|\bwhoever runs\b/i, 'the operator'],
  [/\bunwanted mail\b/, 'spam folder'],
  [/\blet (it|you|them) in\b|\blet in\b/i, 'give access'],
  [/\bwhoever\b/i, 'name the person'],
  [/\b(takes|took|take|taken) in\b/, 'receive, import'],
  [/\bc[oa]me(s)? about\b/, 'happen, be completed'],
  [/\bof whom\b|\bto who\b|\bfor who\b|\bthat who\b/, 'name the person'],
  [/\bbring (it|them|one) on\b/, 'continue'],
  [/\blooks? into (your|the) (mail|folder)\b/i, 'check your e-mail'],
  [/\bworld of tests\b|\btold (names|are)\b/i, 'subject, verb, object'],
  [/\bstands? in (the|no) (way|log|mail)\b/, 'contain, block'],
  [/\bby (him|her)self\b|\b(he|his|him)\b/, 'they, or the noun'],
];

/** Where a phrase is right, and why. */
const allowed: { file: RegExp; line: RegExp; why: string }[] = [];

test('texts for people and agents use no phrase of our own dialect', () => {
  expect(read.length).toBeGreaterThan(100);
  const found = read.flatMap((file) =>
    text(file)
      .split('\n')
      .flatMap((line, at) =>
        phrases
          .filter(([pattern]) => pattern.test(line))
          .filter(() => !allowed.some((one) => one.file.test(file) && one.line.test(line)))
          .map(([pattern, instead]) => `${file}:${at + 1}: “${pattern.exec(line)?.[0]}” (${instead})`),
      ),
  );
  expect(found).toEqual([]);
});

test('every exception is needed', () => {
  const unused = allowed.filter(
    ({ file, line }) =>
      !read.some(
        (name) =>
          file.test(name) &&
          text(name)
            .split('\n')
            .some((one) => line.test(one)),
      ),
  );
  expect(unused).toEqual([]);
});

test('test titles have at most 14 words, and no phrase of our own dialect', () => {
  const titled = /(?:\b(?:test|it|describe)(?:\.\w+(?:\([^()]*\))?)*|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1,/g;
  const titles = files
    .filter((file) => /^test\/.*\.test\.ts$/.test(file))
    .flatMap((file) => [...text(file).matchAll(titled)].map(([, , title = '']) => `${file}: ${title}`));
  expect(titles.length).toBeGreaterThan(1_900);
  const count = (title: string) => title.replaceAll(/\$\{[^}]*\}/g, 'x').split(/\s+/).length - 1;
  expect(titles.filter((title) => count(title) > 14 || phrases.some(([pattern]) => pattern.test(title)))).toEqual([]);
});
