/** What pages consist of, to compare them with words of different kinds. */
import { Parser } from 'htmlparser2';

/** `markup`: elements, and their attributes by name. `leads`: where attributes lead, and what styles and scripts there are. */
export type Markup = { text: string; markup: Set<string>; leads: Set<string> };

const urls = new Set(['href', 'src', 'srcset', 'action', 'formaction', 'data', 'poster', 'xlink:href']);

/** What all of these pages show, and of what they are made. */
export function markupOf(pages: readonly { text: string }[]): Markup {
  const all: Markup = { text: '', markup: new Set(), leads: new Set() };
  for (const { text } of pages) read(text, all);
  return all;
}

/** What the first has and the second does not. */
export function added(now: Markup, before: Markup): string[] {
  return (['markup', 'leads'] as const).flatMap((part) => [...now[part]].filter((one) => !before[part].has(one)));
}

function read(html: string, shown: Markup): void {
  let inside = '';
  const parser = new Parser({
    onopentag(name, attributes) {
      inside = name;
      shown.markup.add(name);
      for (const [key, value] of Object.entries(attributes)) {
        shown.markup.add(`${name} ${key}`);
        if (key === 'style') shown.leads.add(`style ${value.replaceAll(/[\d.]+/g, '0')}`);
        if (!urls.has(key)) continue;
        const to = URL.parse(value, 'http://console.localhost');
        shown.leads.add(`${name} ${key} ${to ? `${to.protocol}//${to.host}` : value}`);
      }
    },
    ontext(text) {
      shown.text += text;
      if (inside === 'script' || inside === 'style') shown.leads.add(`${inside} ${text}`);
    },
    onclosetag() {
      inside = '';
    },
  });
  parser.end(html);
}
