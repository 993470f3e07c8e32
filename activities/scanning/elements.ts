/** Facts from single elements of a page. Pure. */

const attributeMax = 1_000;
const instantSeconds = 2;

// Adjacent parts never match the same character, so hostile text causes no backtracking.
const refreshing = /^(\d*)(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?["']?([^"']*)/i;

/** The target of a meta refresh within two seconds. WHATWG HTML, "shared declarative refresh steps". */
export function refreshOf({ 'http-equiv': equiv = '', content = '' }: Record<string, string>): string | undefined {
  if (equiv.slice(0, attributeMax).trim().toLowerCase() !== 'refresh') return undefined;
  const [, seconds = '', address] = refreshing.exec(content.trimStart()) ?? [];
  return address && Number(seconds) <= instantSeconds ? address.trim() : undefined;
}

/** Whether a browser runs a script of this type. */
export function isExecutable(type: string | undefined): boolean {
  return (
    type === undefined ||
    type.trim() === '' ||
    /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/jscript)/i.test(
      type.trim().slice(0, attributeMax),
    )
  );
}
