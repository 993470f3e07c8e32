/**
 * Facts from the text of a script: its requests, its navigations at page load, its calls to wallets. Nothing is executed. Escapes and joined
 * string literals are resolved first; computed strings are not.
 */
import { runsAtLoad } from './page-load.ts';

/** Addresses as written, by host, the first of each: many addresses of one host do not displace another. */
export type ScriptFacts = {
  sends: Map<string, string>;
  navigations: Map<string, string>;
  /** Addresses in variables, by name. */
  named: Map<string, string>;
  /** Whether it mentions passwords. */
  passwords: boolean;
  /** Evidence of a wallet drainer; usually null. */
  walletDrainer: string | null;
  /** Whether nothing relevant was dropped. */
  whole: boolean;
};

/** Longer text is read in overlapping pieces. */
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

/** Access to a wallet, requests beyond one payment (ERC-20 and ERC-721 approvals, EIP-2612, EIP-712), and obfuscation. */
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

/** Adds the facts of a piece of a script. */
export function readScript(facts: ScriptFacts, piece: string): void {
  const text = normalized(piece);
  if (/passw(?:or)?d/i.test(text)) facts.passwords = true;
  collectNames(facts, text);
  const of = (match: RegExpExecArray) => match[1] ?? match[3] ?? facts.named.get(match[2] ?? match[4] ?? '');
  for (const sending of requests) for (const match of text.matchAll(sending)) keep(facts, 'sends', of(match));
  let checkedCount = 0;
  for (const match of text.matchAll(navigations)) {
    const address = of(match);
    const host = address === undefined ? undefined : hostOf(address);
    if (host === undefined || facts.navigations.has(host)) continue;
    if (++checkedCount > navigationsCheckedMax) {
      facts.whole = false;
      break;
    }
    if (runsAtLoad(text, match.index)) keep(facts, 'navigations', address);
  }
  facts.walletDrainer ??= walletDrainerIn(text);
}

/** Merges the facts of another script. */
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
  const enough = isHidden || /\bdrainer\b/i.test(text) ? 1 : 3;
  if (found.length < enough || !(isHidden || reaches.test(text))) return null;
  return `requests ${found.join(', ')} from a wallet${isHidden ? ' and is obfuscated' : ''}`;
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
/** Undefined if it is not an address. */
const hostOf = (address: string) => URL.parse(unescaped(address), 'https://site.invalid')?.host;

/** Resolves escapes, `atob` of literals, and concatenated literals. */
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
