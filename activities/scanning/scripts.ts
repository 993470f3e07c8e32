/**
 * What a script does as far as its text says: where it sends, where it leads a visitor as it loads, what it asks of a wallet. Its bytes are
 * data: nothing is run. Strings that are torn apart or written in escapes are read together first; what is computed is not seen.
 */
import { runsAtLoad } from './page-load.ts';

/** Addresses are as they stand in the text, the first of each host, under it: a thousand of one hide no other. */
export type ScriptFacts = {
  sends: Map<string, string>;
  navigations: Map<string, string>;
  /** Addresses that stand under a name, by it. */
  named: Map<string, string>;
  /** Whether it speaks of passwords. */
  passwords: boolean;
  /** What shows that it empties wallets; null as a rule. */
  walletDrainer: string | null;
  /** Whether all that counts was kept. */
  whole: boolean;
};

/** Longer text is read in pieces, which begin with the end of the one before. */
export const pieceMax = 256 * 1024;
export const overlap = 2 * 1024;
const hostsMax = 200;
const namesMax = 20_000;
const navigationsCheckedMax = 100;

const literal = '["\'`]\\s*((?:https?:|wss?:)?(?://|\\\\/\\\\/)[^"\'`\\s<>]{1,300})';
const argument = `(?:${literal}|([A-Za-z_$][\\w$]{0,200})\\s*[,);\\n])`;
const assignments = new RegExp(`(?<![\\w$])([A-Za-z_$][\\w$]{0,200})\\s*=\\s*${literal}`, 'g');
const requests = [
  `(?:\\bfetch|\\bsendBeacon|\\baxios(?:\\.\\w{1,10})?|\\$\\.(?:post|get|ajax)|\\bWebSocket)\\s*\\(\\s*(?:\\{[^{}]{0,200}?\\burl\\s*:\\s*)?${argument}`,
  `\\.open\\s*\\(\\s*["'\`]\\w{3,7}["'\`]\\s*,\\s*${argument}`,
  `\\.action\\s*=(?!=)\\s*${argument}`,
  `setAttribute\\s*\\(\\s*["'\`](?:form)?action["'\`]\\s*,\\s*${argument}`,
].map((one) => new RegExp(one, 'gi'));
const navigations = new RegExp(
  `\\blocation(?:\\.href|\\[\\s*["'\`]href["'\`]\\s*\\])?\\s*=(?!=)\\s*${argument}|` +
    `\\blocation\\s*(?:\\.|\\[\\s*["'\`])(?:replace|assign|href)(?:["'\`]\\s*\\])?\\s*[(=](?!=)\\s*${argument}`,
  'g',
);

/** What reaches a wallet, what takes from it beyond one payment (ERC-20 and ERC-721 approvals, EIP-2612, EIP-712), and what hides that. */
const reaches =
  /\bethereum\.request|window\.ethereum|eth_requestAccounts|walletconnect|web3modal|\bsolana\.connect|window\.solana/i;
const takes = [
  /setApprovalForAll/i,
  /increaseAllowance|increaseApproval/i,
  /\bPermit2\b|PermitBatch|PermitSingle|PermitTransferFrom/,
  /signTypedData/i,
  /\bf{64}\b|MaxUint256/i,
  /fulfillAvailableAdvancedOrders|seaport/i,
  /signAllTransactions/,
  /eth_sendTransaction/,
];
const hides = [/_0x[0-9a-f]{4,8}\b/g, /String\.fromCharCode/g];
const unpacks = /eval\s*\(\s*(?:atob|unescape|function\s*\(\s*p\s*,\s*a\s*,\s*c\s*,\s*k)/;
const hiddenMin = 20;

export function noScript(): ScriptFacts {
  return {
    sends: new Map(),
    navigations: new Map(),
    named: new Map(),
    passwords: false,
    walletDrainer: null,
    whole: true,
  };
}

/** Adds what the piece of a script shows. */
export function readScript(facts: ScriptFacts, piece: string): void {
  const text = normalized(piece);
  if (/passw(?:or)?d/i.test(text)) facts.passwords = true;
  collectNames(facts, text);
  const of = (match: RegExpExecArray) => match[1] ?? match[3] ?? facts.named.get(match[2] ?? match[4] ?? '');
  for (const sending of requests) for (const match of text.matchAll(sending)) keep(facts, 'sends', of(match));
  let judged = 0;
  for (const match of text.matchAll(navigations)) {
    const address = of(match);
    const host = address === undefined ? undefined : hostOf(address);
    if (host === undefined || facts.navigations.has(host)) continue;
    if (++judged > navigationsCheckedMax) {
      facts.whole = false;
      break;
    }
    if (runsAtLoad(text, match.index)) keep(facts, 'navigations', address);
  }
  facts.walletDrainer ??= walletDrainerIn(text);
}

/** Adds what another one shows. */
export function joinScript(facts: ScriptFacts, other: ScriptFacts): void {
  for (const one of ['sends', 'navigations'] as const)
    for (const address of other[one].values()) keep(facts, one, address);
  facts.passwords ||= other.passwords;
  facts.walletDrainer ??= other.walletDrainer;
  facts.whole &&= other.whole;
}

function walletDrainerIn(text: string): string | null {
  const found = takes.flatMap((one) => one.exec(text)?.[0].slice(0, 40) ?? []);
  if (found.length === 0) return null;
  const isHidden = unpacks.test(text) || hides.some((one) => (text.match(one)?.length ?? 0) >= hiddenMin);
  const enough = isHidden ? 1 : /\bdrainer\b/i.test(text) ? 1 : 3;
  if (found.length < enough || !(isHidden || reaches.test(text))) return null;
  return `asks a wallet for ${found.join(', ')}${isHidden ? ', and hides what it does' : ''}`;
}

function collectNames(facts: ScriptFacts, text: string): void {
  for (const [, name = '', address = ''] of text.matchAll(assignments)) {
    if (facts.named.size < namesMax || facts.named.has(name)) facts.named.set(name, address);
    else facts.whole = false;
  }
}

function keep(facts: ScriptFacts, which: 'sends' | 'navigations', address: string | undefined): void {
  const host = address === undefined ? undefined : hostOf(address);
  const all = facts[which];
  if (address === undefined || host === undefined || all.has(host)) return;
  if (all.size < hostsMax) all.set(host, unescaped(address));
  else facts.whole = false;
}

const unescaped = (address: string): string => address.replaceAll('\\/', '/');
/** Nothing where it is no address: it leads nowhere. */
const hostOf = (address: string) => URL.parse(unescaped(address), 'https://site.invalid')?.host;

/** Escapes read, `atob` of a literal done, and literals that are joined by a plus made one. */
function normalized(text: string): string {
  return text
    .replace(/\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{0{0,4}([0-9a-f]{1,4})\}/gi, (_all, x, u, b) =>
      String.fromCharCode(Number.parseInt(x ?? u ?? b, 16)),
    )
    .replace(/\batob\s*\(\s*["'`]([\w+/=-]{8,2000})["'`]\s*\)/g, (all, packed) => quoted(packed) ?? all)
    .replace(/["'`]\s*\+\s*["'`]/g, '');
}

function quoted(packed: string): string | undefined {
  const text = Buffer.from(packed, 'base64').toString('latin1');
  return /^[\x20-\x7e]+$/.test(text) ? `"${text.replaceAll('"', '')}"` : undefined;
}
