/** Findings in a page or script that an operator should review. They are hints: nothing is blocked by them. Pure. */
import type { FlagKind } from '#db/scanning/flag.ts';
import type { ScannedPage } from './page.ts';
import type { ScriptFacts } from './scripts.ts';

export type Finding = { kind: FlagKind; excerpt: string };

/** The page's address, the site's own hosts, and the platform's host, which receives its forms. */
export type SiteOrigin = { address: URL; hosts: ReadonlySet<string>; platform: string };

const excerptMax = 200;
const brands =
  /\b(?:paypal|microsoft|office ?365|outlook|onedrive|sharepoint|apple ?id|icloud|google|gmail|facebook|instagram|whatsapp|netflix|amazon|dhl|fedex|docusign|dropbox|linkedin|coinbase|binance|kraken|metamask|trust wallet|ledger live|trezor|wells fargo|chase|bank of america|hsbc|santander|sparkasse|revolut)\b/i;

export function findInPage(page: ScannedPage, others: readonly ScriptFacts[], place: SiteOrigin): Finding[] {
  const base = (page.base === undefined ? undefined : parse(page.base, place.address)) ?? place.address;
  const elsewhere = (address: string) => externalAddress(address, base, place);
  const scripts = [page.script, ...others];
  return [
    ...firstMatch(
      'password_form',
      page.forms.filter(({ hasPassword }) => hasPassword).flatMap(({ actions }) => actions),
      (action) => passwordTarget(action, base, place),
    ),
    ...firstMatch(
      'password_sent',
      page.hasPassword ? scripts.flatMap(({ sends }) => [...sends.values()]) : [],
      elsewhere,
    ),
    ...firstMatch('redirect', [...page.refreshes, ...page.script.navigations.values()], elsewhere),
    ...walletDrainer(page.script),
    ...brandSignIn(page),
    ...(page.seedPhrase && page.hasField
      ? [finding('seed_phrase', 'asks for the recovery phrase of a cryptocurrency wallet')]
      : []),
    ...unreadPart({ whole: page.whole && page.script.whole }),
  ];
}

/** Findings in a script file, independent of its pages. */
export function findInScript(script: ScriptFacts, place: SiteOrigin): Finding[] {
  const elsewhere = (address: string) => externalAddress(address, place.address, place);
  return [
    ...firstMatch('password_sent', script.passwords ? [...script.sends.values()] : [], elsewhere),
    ...firstMatch('redirect', [...script.navigations.values()], elsewhere),
    ...walletDrainer(script),
    ...unreadPart(script),
  ];
}

function unreadPart({ whole }: { whole: boolean }): Finding[] {
  return whole
    ? []
    : [finding('unread', 'cannot be scanned completely: it is nested too deeply, too long or obfuscated')];
}

function walletDrainer({ walletDrainer: drains }: ScriptFacts): Finding[] {
  return drains === null ? [] : [finding('wallet_drainer', drains)];
}

function brandSignIn({ hasPassword, labelText: called }: ScannedPage): Finding[] {
  const brand = hasPassword ? brands.exec(called.normalize('NFKC').replace(/[\p{Cf}]/gu, '')) : null;
  return brand ? [finding('brand_signin', `asks for a password and uses the brand name ${brand[0]}`)] : [];
}

/** A finding for the first address with a suspicious target. */
function firstMatch(
  kind: FlagKind,
  addresses: readonly string[],
  lead: (address: string) => string | undefined,
): Finding[] {
  for (const address of addresses) {
    const to = lead(address);
    if (to !== undefined) return [finding(kind, to)];
  }
  return [];
}

/** The target of a form with a password, if it is external or one of our form endpoints, which must not receive passwords. */
function passwordTarget(action: string, base: URL, place: SiteOrigin): string | undefined {
  const target = parse(action, base);
  if (target?.host === place.platform && target.pathname.startsWith('/f/')) return target.href;
  // An empty action is the page itself, whatever its base (WHATWG HTML, "form submission algorithm").
  return action === '' ? undefined : externalAddress(action, base, place);
}

function externalAddress(address: string, base: URL, { hosts, platform }: SiteOrigin): string | undefined {
  const target = parse(address, base);
  if (!target || !/^(?:https?|wss?):$/.test(target.protocol)) return undefined;
  return hosts.has(target.hostname) || target.host === platform ? undefined : target.href;
}

function parse(address: string, base: URL): URL | undefined {
  return URL.parse(address, base.href) ?? undefined;
}

const finding = (kind: FlagKind, words: string): Finding => ({ kind, excerpt: printableExcerpt(words) });

/** Safe to print: one line without control or bidirectional characters. */
export function printableExcerpt(words: string, max = excerptMax): string {
  return words
    .slice(0, max)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '·')
    .toWellFormed();
}
