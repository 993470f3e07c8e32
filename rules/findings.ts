/** What checks find on pages: the kinds, how bad each is, and their order. Pure. */

/** From the worst to the least. */
export const severities = ['error', 'warning', 'notice'] as const;
export type Severity = (typeof severities)[number];

/** The kinds of findings, each with its severity. */
export const findingKinds = {
  page_failed: 'error',
  broken_picture: 'error',
  broken_file: 'error',
  broken_link: 'error',
  script_error: 'error',
  overflow: 'error',
  contrast: 'warning',
  no_name: 'warning',
  no_alternative_text: 'warning',
  small_text: 'warning',
  layout_shift: 'warning',
  no_title: 'warning',
  no_language: 'warning',
  heavy_page: 'warning',
  large_picture: 'warning',
  no_description: 'notice',
  no_share_image: 'notice',
} as const satisfies Record<string, Severity>;
export type FindingKind = keyof typeof findingKinds;

/** One finding: where it is, and what to do. */
export type Finding = {
  kind: FindingKind;
  severity: Severity;
  /** The path of the page. */
  page: string;
  /** The width of the window, in CSS pixels. */
  width: number;
  /** The element, or null for the whole page. */
  selector: string | null;
  /** Words of the element, an address or a message. */
  text: string;
  advice: string;
  /** On how many elements or pages the same was found. */
  count: number;
  /** The position of its picture among those of the check, or null. */
  picture: number | null;
};

/** Shown unless more are asked for. */
export const findingsShown = 20;
export const findingsMax = 200;
/** The windows in which pages are checked. */
export const checkedWidths = [390, 1280] as const;

const kinds = Object.keys(findingKinds);

/** Worst first; of the same severity in the order of kinds, then of pages. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
      (a.page < b.page ? -1 : a.page > b.page ? 1 : 0) ||
      a.width - b.width,
  );
}

/**
 * One finding for each cause: the same on another page, or in a wider window, counts; so do other elements with the same two
 * colours.
 */
export function oneForEachCause(findings: readonly Finding[]): Finding[] {
  const causes = new Map<string, { finding: Finding; places: Set<string> }>();
  for (const finding of findings) {
    const { kind, page, selector, text, advice } = finding;
    const key = (kind === 'contrast' ? [kind, advice] : [kind, selector ?? page, text]).join('\n');
    const { places } = causes.get(key) ?? { places: new Set() };
    if (places.size === 0) causes.set(key, { finding, places });
    places.add([page, selector, text].join('\n'));
  }
  return [...causes.values()].map(({ finding, places }) => ({ ...finding, count: places.size }));
}
