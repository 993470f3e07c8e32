/** The warnings of a version in few words. Pure. */
import type { Input } from '#api/operations/inject.ts';

type Warning = { kind: string; path: string; target?: string; message: string; count: number; places: string[] };

/** The same body with one sentence for each cause, and one for all texts of the template. */
export function withBriefWarnings(body: Input): Input {
  const { items, pages } = (body.warnings ?? {}) as { items?: Warning[]; pages?: unknown };
  if (!Array.isArray(items)) return body;
  const templates = items.filter(({ kind }) => kind === 'template_text');
  const others = items.filter(({ kind }) => kind !== 'template_text').map(sentence);
  return { ...body, warnings: { items: [...others, ...templateTexts(templates)], pages } };
}

const sentence = ({ message, count, places }: Warning): string =>
  count > 1 ? `${message} (${count} in all: ${places.join(', ')})` : message;

function templateTexts(items: readonly Warning[]): string[] {
  if (items.length === 0) return [];
  const pages = [...Map.groupBy(items, ({ path }) => path)].map(
    ([path, all]) => `${path} ${all.map(({ target }) => `“${target}”`).join(' ')}`,
  );
  return [
    `Texts of the template are still shown. Put the owner’s own words there, or remove them. First places: ${pages.join('; ')}`,
  ];
}
