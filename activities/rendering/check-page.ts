/** Checks one page in one window: what the page itself shows, what axe finds, and what its requests say. */
import { readFileSync } from 'node:fs';
import type { OpenPage } from '#providers/browser/page.ts';
import { type BrowserFault, undefinedIfFault } from '#providers/browser/pipe.ts';
import { checkedWidths, type Finding, type FindingKind, findingKinds } from '#rules/findings.ts';
import type { Region } from '#rules/looks.ts';
import { adviceFor } from './advice.ts';
import { axeFindings } from './axe.ts';
import type { ShownVersion } from './site-version.ts';

const measure = readFileSync(new URL('../../web/checks/measure.js', import.meta.url), 'utf8');
const measureMs = 10_000;
const heavyBytes = 3 * 1024 * 1024;
const largePictureBytes = 100 * 1024;
const largePictureTimes = 2.5;
/** Of one page in one window. */
const cropsMax = 4;
const cropMax = { width: 800, height: 600 };
const cropMargin = 16;
/** Names and words are the page's own, and may be megabytes. */
const textMax = 300;
const missingMax = 50;

type Found = {
  kind: FindingKind | 'link';
  selector: string | null;
  text: string;
  area: Region | null;
  more: Record<string, unknown>;
};
/** A finding, with the part of the page that shows it. */
export type PageFinding = Finding & { crop?: Buffer };

type Where = { page: string; width: number };

/** Scripts that lie elsewhere were not loaded, so what they leave undone is no error of the page. */
const causedElsewhere = /is not defined|Failed to fetch|NetworkError|dynamically imported module|Load failed/;

export async function checkPage(version: ShownVersion, page: OpenPage, where: Where): Promise<PageFinding[]> {
  if (page.wasStopped)
    return [finding(where, wholePage('page_failed', 'The page was still loading when its time ended.'))];
  const found = (await page.evaluate(`${measure}\nmeasure()`, measureMs)) as Found[];
  const all = [
    ...found.flatMap((one) => ownFinding(version, page, where, one)),
    ...((await axeFindings(page).catch(undefinedIfFault)) ?? []),
    ...fromRequests(page, found),
    ...fromErrors(page),
  ];
  const findings: PageFinding[] = [];
  for (const one of all) {
    const crop = findings.filter((known) => known.crop).length < cropsMax ? await cropOf(page, one.area) : undefined;
    findings.push({ ...finding(where, one), ...(crop ? { crop } : {}) });
  }
  return findings;
}

/** A page that cannot be shown at all. */
export const failedPage = (where: Where, fault: BrowserFault): PageFinding =>
  finding(where, wholePage('page_failed', fault.message));

function finding({ page, width }: Where, { kind, selector, text, more }: Found): PageFinding {
  const name = kind as FindingKind;
  const severity = findingKinds[name];
  const place = { page, width, selector: selector?.slice(0, textMax) ?? null, text: text.slice(0, textMax) };
  return { kind: name, severity, ...place, advice: adviceFor(name, more), count: 1, picture: null };
}

const wholePage = (kind: FindingKind, text: string, more = {}): Found => ({
  kind,
  selector: null,
  text,
  area: null,
  more,
});

/** Links and pictures are looked up: what the page measured is only where they are. */
function ownFinding(version: ShownVersion, page: OpenPage, { width }: Where, one: Found): Found[] {
  if (one.kind === 'link') {
    const path = String(one.more.path);
    if (version.leadsSomewhere(path) || path.startsWith('/.well-known/')) return [];
    return [{ ...one, kind: 'broken_link', text: `${one.text} (${path})` }];
  }
  if (one.kind === 'large_picture') {
    // A desk shows it larger than a phone, which has several pixels for each of CSS.
    if (width < Math.max(...checkedWidths)) return [];
    const bytes = page.answered.find(({ url }) => url === one.text)?.bytes ?? 0;
    const times = Number(one.more.natural) / Math.max(1, Number(one.more.shown));
    return bytes > largePictureBytes && times > largePictureTimes ? [{ ...one, more: { ...one.more, width } }] : [];
  }
  return [one];
}

function fromRequests({ answered }: OpenPage, found: readonly Found[]): Found[] {
  const isTold = (url: string) => found.some(({ kind, text }) => kind === 'broken_picture' && url.startsWith(text));
  const missing = answered
    .filter(({ url, status }) => status === 404 && !url.endsWith('/favicon.ico') && !isTold(url))
    .slice(0, missingMax);
  const bytes = answered.reduce((sum, one) => sum + one.bytes, 0);
  const largest = answered.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  const mib = (of: number) => `${(of / 1024 / 1024).toFixed(1)} MiB`;
  const names = largest.map((one) => `${new URL(one.url).pathname} ${mib(one.bytes)}`).join(', ');
  return [
    ...missing.map(({ url }) => wholePage('broken_file', new URL(url).pathname)),
    ...(bytes > heavyBytes ? [wholePage('heavy_page', `${mib(bytes)}: ${names}`)] : []),
  ];
}

function fromErrors({ errors, elsewhere }: OpenPage): Found[] {
  const own = elsewhere.size > 0 ? errors.filter((text) => !causedElsewhere.test(text)) : errors;
  return [...new Set(own)].map((text) => wholePage('script_error', text.split('\n', 1)[0] ?? ''));
}

async function cropOf(page: OpenPage, area: Region | null): Promise<Buffer | undefined> {
  if (!area || area.width < 1 || area.height < 1) return undefined;
  const x = Math.max(0, area.x - cropMargin);
  const y = Math.max(0, area.y - cropMargin);
  const width = Math.min(cropMax.width, area.width + 2 * cropMargin);
  const height = Math.min(cropMax.height, area.height + 2 * cropMargin);
  return await page.picture('webp', { x, y, width, height }).catch(undefinedIfFault);
}
