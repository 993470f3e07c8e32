/** HTML that an SVG may contain in `foreignObject`: text with formatting, as drawing programs export it. */
import type { SaxesTagNS } from 'saxes';

const elements = new Set(
  'b body br code div em h1 h2 h3 h4 h5 h6 hr i li ol p pre s small span strong sub sup table tbody td th thead tr u ul'.split(
    ' ',
  ),
);
const attributes = new Set(
  'align class colspan data-drawio-colors dir height id lang rowspan style title valign width xmlns xml:lang xml:space'.split(
    ' ',
  ),
);

/** What is not allowed about this element, which is inside a `foreignObject`. */
export function foreignFault(
  { name, local, uri, attributes: given }: SaxesTagNS,
  htmlNamespace: string,
): string | undefined {
  if (uri !== htmlNamespace || !elements.has(local)) return `has a <${name}> element in a <foreignObject>`;
  for (const attribute of Object.values(given)) {
    const isNamespace = attribute.name.startsWith('xmlns:');
    if (!isNamespace && !attributes.has(attribute.name))
      return `has the attribute ${attribute.name} in a <foreignObject>`;
    if (!isNamespace && attribute.name !== 'xmlns' && loads(attribute.value))
      return `has a URL in ${attribute.name} in a <foreignObject>`;
  }
  return undefined;
}

/** Whether a value names anything but a part of this file. CSS escapes could hide a name, so none is allowed. */
function loads(value: string): boolean {
  return /\\|@import|expression\(|image(-set)?\(|:\/\/|url\((?!\s*["']?#)/i.test(value);
}
