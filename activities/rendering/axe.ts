/** Contrast and names, by axe-core in the page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OpenPage } from '#providers/browser/page.ts';
import type { FindingKind } from '#rules/findings.ts';
import type { Region } from '#rules/looks.ts';

const axeMs = 15_000;

/** The rules of axe that are about contrast and names. */
const rules = {
  'color-contrast': 'contrast',
  'image-alt': 'no_alternative_text',
  'input-image-alt': 'no_alternative_text',
  'area-alt': 'no_alternative_text',
  'role-img-alt': 'no_alternative_text',
  'svg-img-alt': 'no_alternative_text',
  'button-name': 'no_name',
  'input-button-name': 'no_name',
  'link-name': 'no_name',
  label: 'no_name',
  'select-name': 'no_name',
  'frame-title': 'no_name',
  'aria-command-name': 'no_name',
  'aria-input-field-name': 'no_name',
  'aria-toggle-field-name': 'no_name',
} as const satisfies Record<string, FindingKind>;

const run = `axe.run(document, { resultTypes: ['violations'], iframes: false, runOnly: { type: 'rule', values: ${JSON.stringify(Object.keys(rules))} } })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.slice(0, 12).map(({ target, any, html }) => {
    const selector = String(target[0]);
    const element = document.querySelector(selector);
    const box = element?.getBoundingClientRect();
    const area = box ? { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height } : null;
    const { contrastRatio: ratio, expectedContrastRatio: wanted, fgColor: text, bgColor: background } = any[0]?.data ?? {};
    return { rule: id, selector: selector.slice(0, 300), text: (element?.textContent || html).replaceAll(/\\s+/g, ' ').trim().slice(0, 120), area, more: { ratio, wanted, text, background, isFrame: id === 'frame-title' } };
  })))`;

let script: string | undefined;

/** axe-core and its run. It is half a megabyte, which only workers with a browser read. */
function axe(): string {
  script ??= `${readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')};\n${run}`;
  return script;
}

export type AxeFinding = {
  rule: keyof typeof rules;
  selector: string;
  text: string;
  area: Region | null;
  more: Record<string, unknown>;
};

/** Every element that breaks one of the rules, at most twelve for each. */
export async function axeFindings(page: OpenPage) {
  const found = (await page.evaluate(axe(), axeMs)) as AxeFinding[];
  return found.map(({ rule, ...one }) => ({ ...one, kind: rules[rule] }));
}
